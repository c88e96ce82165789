import { Command } from "commander";
import type { BulkReply } from "../../api/shape/bulk.ts";
import type { BackfillPreviewReply } from "../../api/shape/schedule.ts";
import { api } from "../api.ts";
import { followed } from "../bulk.ts";
import { part } from "../client.ts";
import { CliError, exitCodes, Finished } from "../exit.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";

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
      const belfry = api(world, command);
      const address = `/schedules/${part(id)}/backfill`;
      const planned = await belfry.post<BackfillPreviewReply>(address, { ...body, dryRun: true });
      const jobs = planned.times.filter((time) => time.runs).length;
      for (const line of planned.failed) out.note(`no payload: ${line}`);
      if (dryRun) {
        out.result(planned, () => previewText(planned, out));
        if (planned.failed.length > 0) throw new Finished(exitCodes.failure);
        return;
      }
      if (jobs > unconfirmedMax && !yes) {
        throw new CliError(
          exitCodes.usage,
          "not-confirmed",
          `this makes ${jobs} jobs: look with --dry-run, then say --yes`,
        );
      }
      const done = await followed(belfry, out, await belfry.post<BulkReply>(address, { ...body, dryRun: false }));
      const left = planned.times.length - jobs;
      out.result(done, () => {
        const end = done.state === "STOPPED" ? "stopped: " : "";
        return `${end}${done.changed} jobs planned, ${done.paceMs} ms apart; ${left} times had run, ran or waited`;
      });
      if (done.state === "STOPPED") throw new Finished(exitCodes.partial);
      if (done.refused > 0) throw new Finished(done.changed > 0 ? exitCodes.partial : exitCodes.failure);
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

function previewText({ times, paceMs }: BackfillPreviewReply, out: Output): string {
  const runs = times.filter((time) => time.runs);
  const rows = runs
    .slice(0, 50)
    .map(({ localTime, was, version }) => [localTime.replace("T", " "), was, String(version)]);
  const left = times.length - runs.length;
  const sum = `would run ${runs.length} times, ${paceMs} ms apart; ${left} have run, run or wait`;
  return rows.length === 0 ? sum : `${out.table(["CLOCK", "WAS", "VERSION"], rows)}\n${sum}`;
}
