import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { api } from "../api.ts";
import { type ApiClient, type JobDetail, part } from "../client.ts";
import { type Output, printable } from "../output.ts";
import type { World } from "../world.ts";

interface Event {
  readonly id: string;
  readonly at: string;
  readonly job: string;
  readonly run: string | null;
  readonly kind: string | null;
  readonly key: string | null;
  readonly lane: string | null;
  readonly from: string | null;
  readonly to: string;
  readonly attempt: number;
  readonly generation: number;
  readonly worker: string | null;
  readonly reason: string | null;
}

interface Page {
  readonly events: readonly Event[];
  readonly cursor: string;
  readonly isMore: boolean;
  readonly isGap: boolean;
}

const lookMs = 500;

/** A line for each change of state as it becomes visible, of one job also what was before; with `--json`, an object on each. */
export function logsCommand(world: World, out: Output): Command {
  return new Command("logs")
    .description("every change of state as it happens")
    .option("-f, --follow", "go on until interrupted; without it: what happens until the next look")
    .option("--kind <kind>", "the id of the definition")
    .option("--lane <lane>")
    .option("--job <id>", "with what happened to it before")
    .option("--run <id>")
    .option("--state <states>", "one or more, like FAILED,RETRY_WAIT")
    .addHelpText("after", "\nExample:\n  $ npx belfry logs -f --state FAILED")
    .action(async ({ follow, ...filter }: Record<string, string> & { follow?: boolean }, command: Command) => {
      const client = api(world, command);
      let { cursor } = await client.get<Page>("/events", filter);
      const past = filter["job"] === undefined ? [] : await pastOf(client, filter["job"], filter["state"]);
      const told = new Set(past.map(({ id }) => id));
      for (const event of past) out.result(event, () => line(event));
      for (;;) {
        await wait(lookMs);
        const page = await client.get<Page>("/events", { ...filter, cursor });
        if (page.isGap) out.note("some changes may be missing here: the database was restored");
        const events = page.events.filter(({ id }) => !told.has(id));
        for (const event of events) out.result(event, () => line(event));
        cursor = page.cursor;
        if (follow === true) continue;
        if (told.size + events.length === 0) out.note("nothing changed meanwhile; -f goes on until Ctrl-C");
        return;
      }
    });
}

/** What a job has behind it, in the form of what comes. */
async function pastOf(client: ApiClient, id: string, states: string | undefined): Promise<readonly Event[]> {
  const {
    id: job,
    run,
    kind,
    key,
    lane,
    events,
  } = await client.get<JobDetail & Pick<Event, "run">>(`/jobs/${part(id)}`);
  const wanted = states?.toUpperCase().split(",");
  return events
    .filter(({ to }) => wanted?.includes(to) ?? true)
    .map(({ id: event, at, ...change }) => ({ id: event, at, job, run, kind, key, lane, ...change }));
}

const line = ({ at, job, kind, from, to, attempt, worker, reason }: Event): string =>
  printable(
    [at, `job ${job}`, kind ?? "", `${from ?? "(new)"} -> ${to}`, `try ${attempt}`, worker ?? "", reason ?? ""]
      .filter((text) => text !== "")
      .join("  "),
  );
