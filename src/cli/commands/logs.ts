import { setTimeout as wait } from "node:timers/promises";
import { Command } from "commander";
import { api } from "../api.ts";
import { type Output, printable } from "../output.ts";
import type { World } from "../world.ts";

interface Event {
  readonly id: string;
  readonly at: string;
  readonly job: string;
  readonly kind: string | null;
  readonly from: string | null;
  readonly to: string;
  readonly attempt: number;
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

/** A line for each change of state as it becomes visible; with `--json`, an object on each line. */
export function logsCommand(world: World, out: Output): Command {
  return new Command("logs")
    .description("every change of state as it happens")
    .option("-f, --follow", "go on until interrupted; without it: what happens until the next look")
    .option("--kind <kind>", "the id of the definition")
    .option("--lane <lane>")
    .option("--job <id>")
    .option("--run <id>")
    .option("--state <states>", "one or more, like FAILED,RETRY_WAIT")
    .addHelpText("after", "\nExample:\n  $ npx belfry logs -f --state FAILED")
    .action(async ({ follow, ...filter }: Record<string, string> & { follow?: boolean }, command: Command) => {
      const client = api(world, command);
      let { cursor } = await client.get<Page>("/events", filter);
      for (;;) {
        await wait(lookMs);
        const page = await client.get<Page>("/events", { ...filter, cursor });
        if (page.isGap) out.note("some changes may be missing here: the database was restored");
        for (const event of page.events) out.result(event, () => line(event));
        cursor = page.cursor;
        if (follow !== true) return;
      }
    });
}

const line = ({ at, job, kind, from, to, attempt, worker, reason }: Event): string =>
  printable(
    [at, `job ${job}`, kind ?? "", `${from ?? "(new)"} -> ${to}`, `try ${attempt}`, worker ?? "", reason ?? ""]
      .filter((text) => text !== "")
      .join("  "),
  );
