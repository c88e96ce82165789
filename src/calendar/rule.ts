/** When the EventBridge rule of a schedule wakes its task. Rules are in UTC and whole minutes. */
import { dayMs, minuteMs } from "../machine/units.ts";
import { parseCron, minuteText } from "./cron.ts";
import { formatDuration } from "./duration.ts";
import { scheduleLimits, type ScheduleSpec } from "../machine/schedule.ts";
import type { FirePattern } from "./timetable.ts";
import { openZone, type Zone } from "./zone.ts";

/** @returns null when a rule can wake it, else the setting that a rule cannot follow, and why. */
export function ruleProblem({
  expression,
  materializeBeforeMs,
  startDeadlineMs,
  spread,
  job,
}: Pick<ScheduleSpec, "expression" | "spread" | "materializeBeforeMs" | "startDeadlineMs" | "job">): {
  field: string;
  value: string;
  why: string;
} | null {
  if (expression.form === "after")
    return { field: "launch", value: "rule", why: "needs a time, and it follows another schedule" };
  if (expression.form === "every" && expression.everyMs < minuteMs)
    return { field: "every", value: `${expression.everyMs}ms`, why: "a rule wakes at most once a minute" };
  if (spread !== undefined)
    return { field: "launch", value: "rule", why: "starts a task at the nominal time, and it is spread" };
  if (startDeadlineMs !== undefined && startDeadlineMs < scheduleLimits.missedAfterMs) {
    const why = `must be at least ${formatDuration(scheduleLimits.missedAfterMs)} with a rule: its task takes up to a minute to start, and a lost wake is made up for after ${formatDuration(scheduleLimits.ruleGraceMs)}`;
    return { field: "startDeadline", value: formatDuration(startDeadlineMs), why };
  }
  if (materializeBeforeMs === 0) return null;
  const why = `starts a task at the nominal time, and "${job.kind}" is to be written ${formatDuration(materializeBeforeMs)} before it`;
  return { field: "launch", value: "rule", why };
}

/**
 * AWS's `cron(...)` in UTC that wakes at every nominal time, also one that a calendar moves to another day, rounded up to a minute,
 * except a time that a gap moved: the tick decides that one. It may wake more often than the schedule fires, on other days and at the hours of the zone's other offset;
 * a task that finds nothing due ends at once.
 */
export function ruleOf(when: FirePattern): string {
  const { expression, startAt } = when;
  if (expression.form === "every") return everyRule(expression.everyMs, startAt ?? 0);
  if (expression.form === "at") return onceRule(Math.ceil(expression.at / minuteMs) * minuteMs);
  if (expression.form === "after") throw new RangeError("a chain has no time for a rule");
  const parsed = parseCron(expression.cron);
  if (!parsed.ok) throw new RangeError(parsed.problem);
  const { cron } = parsed;
  const moves = (when.calendars?.onExcluded ?? "skip") !== "skip";
  if (cron.form === "aws" && when.timezone === "UTC" && !moves) return expression.cron;
  const times = offsetsOf(openZone(when.timezone)).flatMap((offset) =>
    cron.hours.flatMap((hour) =>
      cron.minutes.map((minute) => (hour * 60 + minute - offset + minutesOfDay.length) % minutesOfDay.length),
    ),
  );
  return rule(times);
}

/** For a period that does not divide the hour or the day: the largest one that does and meets all its times. */
function everyRule(everyMs: number, anchor: number): string {
  const start = Math.ceil(anchor / minuteMs);
  const step = everyMs % minuteMs === 0 ? common(everyMs / minuteMs, minutesOfDay.length) : 1;
  return rule(minutesOfDay.filter((time) => (time - start) % step === 0));
}

const minutesOfDay: readonly number[] = [...Array(dayMs / minuteMs).keys()];

function onceRule(at: number): string {
  const [date = "", time = ""] = minuteText(at).split("T");
  const [year, month, day] = date.split("-").map(Number);
  const [hour, minute] = time.split(":").map(Number);
  return `cron(${minute} ${hour} ${day} ${month} ? ${year})`;
}

const offsetsFrom = Date.UTC(2026, 0, 1);
const offsetsUntil = Date.UTC(2036, 0, 1);

/** The offsets of a zone in these years, in minutes; each deploy reads them again. */
function offsetsOf(zone: Zone): readonly number[] {
  const changes = zone.transitions(offsetsFrom, offsetsUntil);
  return [zone.offsetAt(offsetsFrom), ...changes.map((change) => change.after)].map((ms) => Math.round(ms / minuteMs));
}

/** The rule that wakes at these minutes of the day. */
function rule(times: readonly number[]): string {
  const minutes = times.map((time) => time % 60);
  const hours = times.map((time) => Math.floor(time / 60));
  return `cron(${field(minutes, 60)} ${field(hours, 24)} * * ? *)`;
}

function field(all: readonly number[], count: number): string {
  const values = [...new Set(all)];
  return values.length === count ? "*" : values.toSorted((a, b) => a - b).join(",");
}

function common(a: number, b: number): number {
  return b === 0 ? a : common(b, a % b);
}
