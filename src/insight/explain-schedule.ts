/** "What happened to 09:00?" in one sentence, with what to do about it. Pure: the facts come in, words go out. */
import { iso } from "../machine/units.ts";
import type { TimeQuery } from "../calendar/asked-time.ts";
import { versionIntervals, type VersionInterval } from "../calendar/version-intervals.ts";
import { explainWait } from "./explain-chain.ts";
import { explainRow, spreadText } from "./explain-row.ts";
import type { ExplainInput, Explanation } from "./explanation.ts";
import type { Instant } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { minuteText } from "../calendar/cron.ts";
import { effectiveAt, type OccurrenceView, scheduleLimits, type ScheduleSpec } from "../machine/schedule.ts";
import type { ScheduleFacts } from "../machine/schedule-store.ts";
import { timetable } from "../calendar/timetable.ts";
import { openZone } from "../calendar/zone.ts";
import type { NominalTime } from "../calendar/fires.ts";
import { pauseAt, pauseText } from "../machine/pause.ts";

export function explainTime(input: ExplainInput): Explanation {
  return input.occurrence === null ? explainMissing(input) : explainRow({ ...input, occurrence: input.occurrence });
}

/** The answer when there is no row: the time was never nominal, no version was in force, or it is undecided. */
function explainMissing({ facts, asked, interval, followed }: ExplainInput): Explanation {
  const time = shown(asked.localTime);
  if (interval === null) return notThere(facts, asked);
  const { spec } = interval;
  if (followed !== null && spec.enabled && facts.row !== null) {
    const wait = explainWait(time, { followed, decidedUntil: facts.row.decidedUntil, now: facts.now });
    if (wait !== null) return wait;
  }
  const found = followed?.occurrence == null ? nominalTime(spec, asked) : timeOf(followed.occurrence);
  if (found === null) return neverNominal(interval, asked, facts);
  const nominal = found.instant;
  const dueAt = effectiveAt(spec, nominal);
  if (!spec.enabled) {
    return {
      verdict: "disabled",
      sentence: `${time} did not run: the schedule was off in this stage (enabled: false, version ${interval.version})`,
      advice: "switch it on with `enabled` for this stage, deploy, then backfill this time",
    };
  }
  const { row, now } = facts;
  if (row !== null && dueAt > now) {
    const pause = pauseAt(row, dueAt);
    return {
      verdict: "not-due",
      sentence: `${time} has not come yet${pause === null ? "" : `, and the schedule is ${pauseText(pause)}`}: ${comingText(found)}${spread(spec, found)}`,
      advice: pause !== null ? `resume it before then: npx belfry schedules resume ${spec.id}` : null,
    };
  }
  if (row === null) {
    return {
      verdict: "deleted",
      sentence: `${time} did not run: the schedule was deleted at ${iso(interval.until)}, before this time was decided`,
      advice: "make it again if it was deleted by mistake",
    };
  }
  if (nominal > row.decidedUntil) {
    return {
      verdict: "undecided",
      sentence: `${time} is past and undecided: the last decided time is ${localOf(row.decidedUntil, spec)}`,
      advice: isLeftToItsRule(spec, now - dueAt)
        ? `its rule starts a task for it, which takes a minute; ${scheduleLimits.ruleGraceMs / 1_000} s after the time the scheduler makes up for it`
        : "no scheduler task has made a pass since: look at the wake rule and the scheduler's log",
    };
  }
  return {
    verdict: "not-in-force",
    sentence: `${time} has no row: the schedule was changed before it was decided (version ${interval.version} was in force)`,
    advice: `run it now: npx belfry schedules backfill ${spec.id} --from ${iso(nominal)} --to ${iso(nominal)}`,
  };
}

const timeOf = ({ localTime, nominalAt: instant }: OccurrenceView): NominalTime => ({
  localTime,
  fold: 0,
  instant,
  kind: "fires",
  mergedInto: null,
});

function comingText({ localTime, kind, calendar, movedTo }: NominalTime): string {
  if (kind === "excluded") return `it will be SKIPPED, because the calendar ${calendar ?? ""} excludes its day`;
  const planned = "it is planned shortly before its time";
  if (movedTo === undefined) return planned;
  return `the calendar ${calendar ?? ""} moves ${shown(localTime)} to ${shown(movedTo)}, and ${planned}`;
}

const spread = (spec: ScheduleSpec, { instant, kind }: NominalTime): string =>
  spec.spread === undefined || kind !== "fires"
    ? ""
    : `; it is spread to ${spreadText(effectiveAt(spec, instant), openZone(spec.timezone))}`;

const isLeftToItsRule = ({ launch }: ScheduleSpec, lateMs: number): boolean =>
  launch === "rule" && lateMs <= scheduleLimits.ruleGraceMs;

function notThere({ versions, row }: ScheduleFacts, asked: TimeQuery): Explanation {
  const time = shown(asked.localTime);
  const [first] = versions;
  const id = row?.id ?? first?.spec?.id ?? "";
  if (first !== undefined && asked.near < first.fromAt) {
    return {
      verdict: "before-schedule",
      sentence: `${time} did not run: the schedule did not exist yet, it began at ${iso(first.fromAt)}`,
      advice: `to run it all the same: npx belfry schedules backfill ${id} --from TIME --to TIME --force`,
    };
  }
  const deleted = versions.findLast((each) => each.spec === null && each.fromAt <= asked.near);
  return {
    verdict: "deleted",
    sentence: `${time} did not run: the schedule had been deleted at ${iso(deleted?.fromAt ?? 0)}`,
    advice: "make it again if it was deleted by mistake",
  };
}

function neverNominal({ spec, version, from }: VersionInterval, asked: TimeQuery, facts: ScheduleFacts): Explanation {
  const time = shown(asked.localTime);
  const table = timetable(spec);
  const past = [...table.times(asked.near - lookBackMs(spec), asked.near)];
  // Several readings fire at a jump: those that it skips, and the one it leads to.
  const isBefore = (each: NominalTime): boolean => each.instant < asked.near || each.localTime < asked.localTime;
  const next = past.find((each) => !isBefore(each)) ?? table.next(asked.near);
  const near = [past.findLast(isBefore), next].flatMap((each) => (each == null ? [] : [shown(each.localTime)]));
  const which = versionIntervals(facts.versions).length > 1 ? ` (version ${version}, in force from ${iso(from)})` : "";
  const skipped = asked.instants.length === 0 ? `; the clock of ${spec.timezone} skips this reading` : "";
  return {
    verdict: "never-nominal",
    sentence: `${time} is no time of this schedule: it runs ${whenOf(spec)}${which}${skipped}`,
    advice: near.length === 0 ? "it has no other times" : `the times around it are ${near.join(" and ")}`,
  };
}

const lookBackMs = (spec: ScheduleSpec): number =>
  spec.expression.form === "every" ? spec.expression.everyMs : 8 * 86_400_000;

/** The asked reading as one of the times of this spec, or null when it is none. */
function nominalTime(spec: ScheduleSpec, asked: TimeQuery): NominalTime | null {
  const table = timetable(spec);
  for (const instant of asked.instants) {
    for (const time of table.times(instant - 1, instant)) return time;
  }
  const moved = movedFrom(spec, asked);
  if (moved !== null) return moved;
  if (asked.instants.length > 0 || spec.expression.form !== "cron") return null;
  for (const time of table.times(asked.near - 1, asked.near + 26 * 3_600_000)) {
    if (time.localTime === asked.localTime) return time;
  }
  return null;
}

/** The asked reading where a calendar moved it to another day. */
function movedFrom(spec: ScheduleSpec, asked: TimeQuery): NominalTime | null {
  if (spec.calendars === undefined || spec.calendars.onExcluded === "skip") return null;
  const farMs = (contractLimits.calendarDaysMoved + 1) * 86_400_000;
  for (const time of timetable(spec).times(asked.near - farMs, asked.near + farMs))
    if (time.movedTo !== undefined && time.localTime === asked.localTime) return time;
  return null;
}

function whenOf({ expression, timezone }: ScheduleSpec): string {
  if (expression.form === "cron") return `\`${expression.cron}\` in ${timezone}`;
  if (expression.form === "after") return `after ${expression.schedule}`;
  return expression.form === "every" ? `every ${expression.everyMs / 1_000} s` : `once, at ${iso(expression.at)}`;
}

const shown = (localTime: string): string => localTime.replace("T", " ");
const localOf = (instant: Instant, { timezone }: ScheduleSpec): string =>
  shown(minuteText(instant + openZone(timezone).offsetAt(instant)));
