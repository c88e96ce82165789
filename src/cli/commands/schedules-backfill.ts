import { Command } from "commander";
import type { BackfilledReply } from "../../api/shape/schedule.ts";
import { CliError, exitCodes, Finished } from "../exit.ts";
import { type Output, table } from "../output.ts";
import type { World } from "../world.ts";
import { client } from "../schedules.ts";

interface Given {
  readonly from: string;
  readonly to: string;
  readonly pace?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
}

/** More jobs than this are not made by a slip of the pen. */
const unconfirmedMax = 10;

export function backfillCommand(world: World, out: Output): Command {
  return new Command("backfill")
    .description("run times of the past that never ran, each with what was in force then; never runs one twice")
    .argument("<id>")
    .requiredOption("--from <time>", "the first time, with Z or its offset")
    .requiredOption("--to <time>", "the last time, included")
    .option("--pace <duration>", "between two jobs; default: the schedule's own pace of catching up")
    .option("--dry-run", "say what would run and write nothing")
    .option("--force", "also before its ledger begins, by its first version")
    .option("--yes", `needed for more than ${unconfirmedMax} jobs`)
    .addHelpText(
      "after",
      "\nExample:\n  $ npx belfry schedules backfill nightly --from 2026-11-01T00:00Z --to 2026-11-07T00:00Z --dry-run",
    )
    .action(async (id: string, given: Given, command: Command) => {
      const { from, to, pace, force = false, dryRun = false, yes = false } = given;
      const body = {
        from: instantOf("--from", from),
        to: instantOf("--to", to),
        force,
        ...(pace === undefined ? {} : { pace }),
      };
      const schedules = client(world, command);
      const planned = await schedules.backfill(id, { ...body, dryRun: true });
      const jobs = planned.times.filter((time) => time.runs).length;
      if (!dryRun && jobs > unconfirmedMax && !yes) {
        throw new CliError(
          exitCodes.usage,
          "not-confirmed",
          `this makes ${jobs} jobs: look with --dry-run, then say --yes`,
        );
      }
      const report = dryRun ? planned : await schedules.backfill(id, { ...body, dryRun: false });
      out.result(report, () => reportText(report, world.streams.isTerminal));
      for (const line of report.failed) out.note(`no payload: ${line}`);
      if (report.failed.length > 0) {
        throw new Finished(report.added + report.again > 0 ? exitCodes.partial : exitCodes.failure);
      }
    });
}

function instantOf(option: string, text: string): string {
  const instant = /(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(instant)) return new Date(instant).toISOString();
  throw new CliError(
    exitCodes.usage,
    "bad-time",
    `${option} is ${JSON.stringify(text)}; write it like 2026-11-21T09:00+09:00`,
  );
}

function reportText({ dryRun, times, added, again, paceMs }: BackfilledReply, isTerminal: boolean): string {
  const runs = times.filter((time) => time.runs);
  const rows = runs
    .slice(0, 50)
    .map(({ localTime, was, version }) => [localTime.replace("T", " "), was, String(version)]);
  const left = times.length - runs.length;
  const sum = dryRun
    ? `would run ${runs.length} times, ${paceMs} ms apart; ${left} have run, run or wait`
    : `${added + again} jobs planned, ${paceMs} ms apart; ${left} times had run, ran or waited`;
  return rows.length === 0 ? sum : `${table(["CLOCK", "WAS", "VERSION"], rows, isTerminal)}\n${sum}`;
}
