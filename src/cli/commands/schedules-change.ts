import type { Command } from "commander";
import type { BackfillPreviewReply, ScheduleReply } from "../../api/shape/schedule.ts";
import { api } from "../api.ts";
import { each, followBulk } from "../bulk.ts";
import { exitCodes, Finished, wrongUsage } from "../exit.ts";
import type { Output, World } from "../output.ts";
import { readPayload } from "../query-options.ts";
import { showEnd, type WaitOptions, withWait } from "../wait.ts";
import { pauseBodyOf, type PauseOptions, scheduleTable, withPauseOptions } from "../schedule-table.ts";
import type { BulkReply } from "../../api/shape/bulk.ts";
import { commandOf, type MakesCommand } from "../read-command.ts";

interface Given extends Readonly<Record<string, unknown>> {
  readonly payload?: string;
}

const kindHelp = "the id of the job's definition";

const settings = (command: Command): Command =>
  command
    .option("--cron <expression>", "five fields, or cron(...); with --timezone")
    .option("--timezone <zone>", "IANA name, like Asia/Seoul")
    .option("--every <duration>", "elapsed time, like 5m, or rate(...)")
    .option("--at <time>", "once: an instant with Z or its offset")
    .option("--payload <json>", "or - to read it from stdin")
    .option("--misfire <rule>", "skip, latest or all")
    .option("--overlap <rule>", "skip, queue-one, queue-all, cancel-running or allow")
    .option("--gap <rule>", "auto, skip, shift or first-valid")
    .option("--dst-overlap <rule>", "auto, first, second or both")
    .option("--start-deadline <duration>", "SKIP a time whose job has not started this long after it")
    .option("--spread <duration>", "each schedule at its own place in so long, like 30m")
    .option("--share <share>", "what it promises: the share of its times that keep it, like 0.999", Number)
    .option("--on-time <duration>", "of what it promises: a job starts so soon after its time")
    .option("--ends-within <duration>", "of what it promises: a job succeeds so soon after its time")
    .option("--over <duration>", "of what it promises: the period that is counted, like 28d")
    .option("--start-at <time>")
    .option("--end-at <time>");

async function bodyOf(given: Given): Promise<object> {
  const { payload, gap, dstOverlap: overlap, enable, disable, share, onTime, endsWithin, over, ...others } = given;
  const { json: _json, url: _url, ...options } = others;
  return {
    ...options,
    ...(await readPayload(payload)),
    ...member("dst", { gap, overlap }),
    ...member("objective", { share, onTime, endsWithin, over }),
    ...(enable === true ? { enabled: true } : disable === true ? { enabled: false } : {}),
  };
}

const member = (name: string, parts: Readonly<Record<string, unknown>>): object =>
  Object.values(parts).every((part) => part === undefined) ? {} : { [name]: parts };

function create(world: World, out: Output): Command {
  return settings(
    commandOf(
      "create",
      "a schedule beside those in code",
      "schedules create nightly --kind export --cron '0 3 * * *' --timezone Asia/Seoul",
    ),
  )
    .argument("<id>")
    .requiredOption("--kind <kind>", kindHelp)
    .option("--disable", "write it switched off")
    .action(async (id: string, options: Given, command: Command) => {
      const row = await api(world, command).call("createSchedule", {}, { id, ...(await bodyOf(options)) });
      out.result(row, () => scheduleTable([row], out));
    });
}

function update(world: World, out: Output): Command {
  return settings(
    commandOf(
      "update",
      "a new version from now on, with the settings given; what was planned after now is withdrawn",
      "schedules update nightly --every 6h --unset spread",
    ),
  )
    .argument("<id>")
    .option("--kind <kind>", kindHelp)
    .option("--enable", "switch it on")
    .option("--disable", "switch it off")
    .option("--unset <settings>", "by commas: settings to take away, like spread,objective", (list: string) =>
      list.split(","),
    )
    .action(async (id: string, options: Given, command: Command) => {
      const body = await bodyOf(options);
      if (Object.keys(body).length === 0) throw wrongUsage("no-setting", "say what to change, like --every 6h");
      const row = await api(world, command).call("patchSchedule", { id }, body);
      out.result(row, () => scheduleTable([row], out));
    });
}

const pause: MakesCommand = (world, out) =>
  withPauseOptions(steer(world, out, "pause", "SKIP its times until it is resumed, also those that were handed off"));

const resume: MakesCommand = (world, out) => steer(world, out, "resume", "let a paused schedule run again");

function steer(world: World, out: Output, verb: "pause" | "resume", description: string): Command {
  return commandOf(verb, description, `schedules ${verb} nightly${verb === "pause" ? " --until 6:00" : ""}`)
    .argument("<id...>")
    .option("--yes", "needed for more than one")
    .action(async (ids: string[], { yes, ...options }: PauseOptions & { yes?: boolean }, command: Command) => {
      confirmed(ids, yes, verb);
      const client = api(world, command);
      const body = verb === "pause" ? pauseBodyOf(options) : {};
      const work = (id: string) => client.call(`${verb}Schedule`, { id }, body);
      await each<ScheduleReply>(ids, out, work, (schedules) => ({
        value: { schedules },
        text: () => scheduleTable(schedules, out),
      }));
    });
}

function remove(world: World, out: Output): Command {
  return commandOf("delete", "nothing of it starts any more; its history stays", "schedules delete nightly")
    .argument("<id...>")
    .option("--yes", "needed for more than one")
    .action(async (ids: string[], { yes }: { yes?: boolean }, command: Command) => {
      confirmed(ids, yes, "delete");
      const client = api(world, command);
      await each(
        ids,
        out,
        async (id) => ({ id, ...(await client.call("deleteSchedule", { id })) }),
        (deleted) => ({
          value: { deleted },
          text: () =>
            deleted.map(({ id, waiting }) => `${id} deleted, ${waiting} waiting jobs left to cancel`).join("\n"),
        }),
      );
    });
}

function trigger(world: World, out: Output): Command {
  return withWait(
    commandOf(
      "trigger",
      "one job now, beside its times; also while paused",
      "schedules trigger nightly --key rerun-0815 --wait",
    ),
  )
    .argument("<id>")
    .option("--key <key>", "a second trigger with the same key makes no second job")
    .action(async (id: string, { key, wait, timeout }: WaitOptions & { key?: string }, command: Command) => {
      const made = await api(world, command).call("triggerSchedule", { id }, { key });
      if (!made.created) out.note(`job ${made.id} has this key already; nothing was written`);
      if (wait) return await showEnd(api(world, command), made, { timeout, out });
      out.result(made, () => `job ${made.id}`);
    });
}

function confirmed(ids: readonly string[], yes: boolean | undefined, verb: string): void {
  if (ids.length > 1 && yes !== true) {
    throw wrongUsage("not-confirmed", `${verb} ${ids.length} schedules? Say so with --yes`);
  }
}

interface BackfillOptions {
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
  return commandOf(
    "backfill",
    "run times of the past that never ran, each with what was in force then; never runs one twice",
    "schedules backfill nightly --from 2026-11-01T00:00Z --to 2026-11-07T00:00Z --dry-run",
  )
    .argument("<id>")
    .requiredOption("--from <time>", "the first time, with Z or its offset")
    .requiredOption("--to <time>", "the last time, included")
    .option("--pace <duration>", "between two jobs; default: the schedule's own pace of catching up")
    .option("--dry-run", "say what would run and write nothing")
    .option("--force", "also before its ledger begins, by its first version")
    .option("--yes", `needed for more than ${unconfirmedMax} jobs`)
    .action(async (id: string, given: BackfillOptions, command: Command) => {
      const { from, to, pace, force = false, dryRun = false, yes = false } = given;
      const body = { from: instantOf("--from", from), to: instantOf("--to", to), force, pace };
      const belfry = api(world, command);
      const dry = { ...body, dryRun: true };
      const planned = (await belfry.call("backfillSchedule", { id }, dry)) as BackfillPreviewReply;
      const jobs = planned.times.filter((time) => time.runs).length;
      for (const line of planned.failed) out.note(`no payload: ${line}`);
      if (dryRun) {
        out.result(planned, () => previewText(planned, out));
        if (planned.failed.length > 0) throw new Finished(exitCodes.failure);
        return;
      }
      if (jobs > unconfirmedMax && !yes) {
        throw wrongUsage("not-confirmed", `this makes ${jobs} jobs: look with --dry-run, then say --yes`);
      }
      const begun = await belfry.call("backfillSchedule", { id }, { ...body, dryRun: false });
      const done = await followBulk(belfry, out, begun as BulkReply);
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
  throw wrongUsage("bad-time", `${option} is ${JSON.stringify(text)}; write it like 2026-11-21T09:00+09:00`);
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

export const changing: readonly MakesCommand[] = [create, update, pause, resume, remove, trigger];
