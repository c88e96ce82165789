import { Command } from "commander";
import type { NextTimesReply, ScheduleReply } from "../../api/shape/schedule.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";
import { client, listText } from "../schedules.ts";
import type { OccurrenceEndReply } from "../../api/shape/schedule-outcome.ts";
import { spanText } from "../times.ts";
import { backfillCommand } from "./schedules-backfill.ts";
import { changing } from "./schedules-change.ts";
import { pausedText } from "../pausing.ts";
import { upcomingCommand } from "./schedules-upcoming.ts";

export function schedulesCommand(world: World, out: Output): Command {
  const schedules = new Command("schedules");
  for (const command of [list, show, next, history, explain, preview]) schedules.addCommand(command(world, out));
  for (const command of changing(world, out)) schedules.addCommand(command);
  schedules.addCommand(backfillCommand(world, out));
  schedules.addCommand(upcomingCommand(world, out));
  return schedules;
}

function list(world: World, out: Output): Command {
  return new Command("list")
    .description("schedules with their next time and how the last one ended")
    .option("--state <state>", "active, failing, late, paused, off or ended")
    .option("--sort <order>", "id, next, lateness or failing", "id")
    .option("--limit <count>", "1 to 100", "50")
    .option("--cursor <cursor>", "the nextCursor of the page before")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules list --state failing")
    .action(async (given: Record<"state" | "sort" | "limit" | "cursor", string>, command: Command) => {
      const { state, sort, limit, cursor } = given;
      const answer = await client(world, command).list({ state, sort, limit, cursor });
      out.result(answer, () => listText(answer.schedules, out));
      if (answer.nextCursor !== null) out.note(`more: --cursor ${answer.nextCursor}`);
      if (answer.isMore) out.note("more may be failing: only the newest failures were looked at");
    });
}

function show(world: World, out: Output): Command {
  return new Command("show")
    .description("one schedule, and the versions it had")
    .argument("<id>")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules show outbox-retry")
    .action(async (id: string, _: object, command: Command) => {
      const found = await client(world, command).show(id);
      const versions = found.versions.map(({ version, from, expression, spec }) => {
        return [String(version), from, expression === null ? "deleted" : `${expression} ${spec?.timezone ?? ""}`];
      });
      out.result(found, () =>
        [
          found.deleted ? `${id} was deleted` : listText([found as ScheduleReply], out),
          "",
          out.table(["VERSION", "FROM", "WHEN"], versions),
        ].join("\n"),
      );
    });
}

function next(world: World, out: Output): Command {
  return new Command("next")
    .description("the next times of a schedule, with what clock changes do to them")
    .argument("<id>")
    .option("--count <count>", "1 to 500", "10")
    .option("--after <time>", "with its offset; default: now")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules next daily-quiz-seoul --count 3")
    .action(async (id: string, { count, after }: Record<string, string>, command: Command) => {
      const answer = await client(world, command).next(id, { count, after });
      out.result(answer, () => timesText(answer.times, out));
      if (!answer.enabled) out.note("it is off in this stage: none of them will run");
      else if (answer.paused) out.note(`it is ${pausedText(answer)}; until then they are SKIPPED`);
    });
}

function timesText(times: NextTimesReply["times"], out: Output): string {
  if (times.length === 0) return "no more times: it has ended";
  const rows = times.map(({ localTime, at, fires, note }) => [
    localTime.replace("T", " "),
    at,
    fires ? "" : "no",
    note ?? "",
  ]);
  return out.table(["CLOCK", "AT", "FIRES", "NOTE"], rows);
}

function history(world: World, out: Output): Command {
  return new Command("history")
    .description("what became of its times, the newest first")
    .argument("<id>")
    .option("--limit <count>", "1 to 500", "50")
    .option("--cursor <cursor>", "the page after this one, as the page before said")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules history outbox-retry --limit 20")
    .action(async (id: string, { limit, cursor }: { limit: string; cursor?: string }, command: Command) => {
      const answer = await client(world, command).history(id, { limit, cursor });
      const rows = answer.occurrences.map((each) => [
        each.localTime.replace("T", " "),
        each.outcome,
        each.jobId ?? "",
        // Of the run, if the job started one.
        each.end?.run?.state ?? each.end?.state ?? "",
        each.latenessMs === null ? "" : spanText(each.latenessMs),
        each.end?.tookMs == null ? "" : spanText(each.end.tookMs),
        each.reason ?? each.end?.reason ?? "",
        errorText(each.end),
      ]);
      out.result(answer, () =>
        rows.length === 0
          ? "nothing decided yet"
          : out.table(["CLOCK", "DECISION", "JOB", "STATE", "LATE", "TOOK", "REASON", "ERROR"], rows),
      );
      if (answer.nextCursor !== null) out.note(`more: --cursor '${answer.nextCursor}'`);
    });
}

const errorText = (end: OccurrenceEndReply | null): string =>
  end?.error == null ? "" : [end.error.code, end.error.message].filter((part) => part !== null).join(": ");

function explain(world: World, out: Output): Command {
  return new Command("explain")
    .description("what became of one time, and why")
    .argument("<id>")
    .argument("<time>", "09:00 for today, 2026-11-21T09:00 by the schedule's clock, or an instant with Z or its offset")
    .addHelpText("after", "\nExample:\n  $ npx belfry schedules explain outbox-retry 09:00")
    .action(async (id: string, time: string, _: object, command: Command) => {
      const answer = await client(world, command).explain(id, time);
      out.result(answer, () =>
        answer.answers
          .map(({ sentence, advice }) => (advice === null ? sentence : `${sentence}\n  ${advice}`))
          .join("\n"),
      );
    });
}

function preview(world: World, out: Output): Command {
  return new Command("preview")
    .description("the next times of an expression that is no schedule yet")
    .argument("<expression>", "five fields, cron(...), rate(...) or a duration like 5m")
    .option("--timezone <zone>", "IANA name", "UTC")
    .option("--gap <rule>", "auto, skip, shift or first-valid")
    .option("--overlap <rule>", "auto, first, second or both")
    .option("--count <count>", "1 to 500", "10")
    .option("--after <time>", "with its offset; default: now")
    .addHelpText(
      "after",
      "\nExample:\n  $ npx belfry schedules preview '30 2 * * *' --timezone America/New_York --count 3",
    )
    .action(async (expression: string, options: Record<string, string>, command: Command) => {
      const { timezone, gap, overlap, count, after } = options;
      const answer = await client(world, command).preview({ expression, timezone, gap, overlap, count, after });
      out.result(answer, () => timesText(answer.times, out));
      for (const note of answer.notes) out.note(`note: ${note}`);
    });
}
