import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import type { EventReply } from "../../api/routes/events.ts";
import { api } from "../api.ts";
import type { ApiClient } from "../client.ts";
import { type Output, printable, type World } from "../output.ts";
import { withQuery } from "../query-options.ts";

const lookMs = 500;

/** A line for each change of state as it becomes visible, of one job also what was before; with `--json`, an object on each. */
export function eventsCommand(world: World, out: Output): Command {
  const words = { job: "with what happened to it before", run: "only of this run" };
  return withQuery(new Command("events"), "listEvents", { without: ["cursor"], words })
    .option("-f, --follow", "go on until interrupted; without it: what happens until the next look")
    .addHelpText("after", "\nExample:\n  $ npx belfry events -f --state FAILED")
    .action(async ({ follow, ...filter }: Record<string, string> & { follow?: boolean }, command: Command) => {
      const client = api(world, command);
      let { cursor } = await client.call("listEvents", filter);
      const past = filter["job"] === undefined ? [] : await pastOf(client, filter["job"], filter["state"]);
      const shown = new Set(past.map(({ id }) => id));
      for (const event of past) out.result(event, () => line(event));
      for (;;) {
        await wait(lookMs);
        const page = await client.call("listEvents", { ...filter, cursor });
        if (page.isGap) out.note("some changes may be missing here: the database was restored");
        const events = page.events.filter(({ id }) => !shown.has(id));
        for (const event of events) out.result(event, () => line(event));
        cursor = page.cursor;
        if (follow === true) continue;
        if (shown.size + events.length === 0) out.note("nothing has changed so far; -f goes on until Ctrl-C");
        return;
      }
    });
}

/** The past moves of a job, in the form of its next ones. */
async function pastOf(client: ApiClient, id: string, states: string | undefined): Promise<readonly EventReply[]> {
  const { id: job, run, kind, key, lane, events } = await client.call("getJob", { id });
  const wanted = states?.toUpperCase().split(",");
  return events
    .filter(({ to }) => wanted?.includes(to) ?? true)
    .map(({ id: event, at, ...change }) => ({ id: event, at, job, run, kind, key, lane, ...change }));
}

const line = ({ at, job, kind, from, to, attempt, worker, reason }: EventReply): string =>
  printable(
    [at, `job ${job}`, kind ?? "", `${from ?? "(new)"} -> ${to}`, `attempt ${attempt}`, worker ?? "", reason ?? ""]
      .filter((text) => text !== "")
      .join("  "),
  );
