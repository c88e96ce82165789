/** When the EventBridge rule of a schedule wakes its task. Rules are in UTC and whole minutes. */
import { hourMs, minuteMs } from "../job/units.ts";
import { parseCron } from "./cron.ts";
import { minuteText } from "./wall-time.ts";
import { formatDuration } from "./duration.ts";
import { scheduleLimits } from "../ports/schedule-limits.ts";
import type { ScheduleSpec } from "../ports/schedule.ts";
import type { FirePattern } from "./timetable.ts";
import { openZone, type Zone } from "./zone.ts";

/** @returns null when a rule can wake it, else the setting that a rule cannot follow, and why. */
export function ruleProblem({
  expression,
  materializeBeforeMs,
  startDeadlineMs,
  job,
}: Pick<ScheduleSpec, "expression" | "materializeBeforeMs" | "startDeadlineMs" | "job">): {
  field: string;
  value: string;
  why: string;
} | null {
  if (expression.form === "every" && expression.everyMs < minuteMs)
    return { field: "every", value: `${expression.everyMs}ms`, why: "a rule wakes at most once a minute" };
  if (startDeadlineMs !== undefined && startDeadlineMs < scheduleLimits.missedAfterMs) {
    const why = `must be at least ${formatDuration(scheduleLimits.missedAfterMs)} with a rule: its task takes up to a minute to start, and a lost wake is made up for after ${formatDuration(scheduleLimits.ruleGraceMs)}`;
    return { field: "startDeadline", value: formatDuration(startDeadlineMs), why };
  }
  if (materializeBeforeMs === 0) return null;
  const why = `starts a task at the nominal time, and "${job.kind}" is to be written ${formatDuration(materializeBeforeMs)} before it`;
  return { field: "launch", value: "rule", why };
}

/**
 * AWS's `cron(...)` in UTC that wakes at every nominal time, rounded up to a minute, except a time that a gap moved: the tick
 * decides that one. It may wake more often than the schedule fires, on other days and at the hours of the zone's other offset;
 * a task that finds nothing due ends at once.
 */
export function ruleOf(when: FirePattern): string {
  const { expression, startAt } = when;
  if (expression.form === "every") return everyRule(expression.everyMs, startAt ?? 0);
  if (expression.form === "at") return onceRule(Math.ceil(expression.at / minuteMs) * minuteMs);
  const parsed = parseCron(expression.cron);
  if (!parsed.ok) throw new RangeError(parsed.problem);
  const { cron } = parsed;
  if (cron.form === "aws" && when.timezone === "UTC") return expression.cron;
  const minutes = new Set<number>();
  const hours = new Set<number>();
  for (const offset of offsetsOf(openZone(when.timezone))) {
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const utc = modulo(hour * 60 + minute - offset / minuteMs, 24 * 60);
        minutes.add(utc % 60);
        hours.add(Math.floor(utc / 60));
      }
    }
  }
  return rule(minutes, hours);
}

/** For a period that does not divide the hour or the day: the largest one that does and meets all its times. */
function everyRule(everyMs: number, anchor: number): string {
  const every = Math.floor(everyMs / minuteMs);
  const isWhole = everyMs % minuteMs === 0;
  const start = Math.ceil(anchor / minuteMs);
  const step = isWhole ? common(every, 24 * 60) : 1;
  const times = Array.from({ length: (24 * 60) / step }, (_, k) => modulo(start + k * step, 24 * 60));
  return rule(new Set(times.map((time) => time % 60)), new Set(times.map((time) => Math.floor(time / 60))));
}

function onceRule(at: number): string {
  const [date = "", time = ""] = minuteText(at).split("T");
  const [year, month, day] = date.split("-").map(Number);
  const [hour, minute] = time.split(":").map(Number);
  return `cron(${minute} ${hour} ${day} ${month} ? ${year})`;
}

/** The offsets of a zone in the next years; each deploy reads them again. */
function offsetsOf(zone: Zone): ReadonlySet<number> {
  const from = Date.UTC(2026, 0, 1);
  const until = Date.UTC(2036, 0, 1);
  return new Set(
    [zone.offsetAt(from), ...zone.transitions(from, until).map((change) => change.after)].map(wholeMinutes),
  );
}

const wholeMinutes = (offset: number): number => Math.round(offset / minuteMs) * minuteMs;

const rule = (minutes: ReadonlySet<number>, hours: ReadonlySet<number>): string =>
  `cron(${field(minutes, hourMs / minuteMs)} ${field(hours, 24)} * * ? *)`;

const field = (values: ReadonlySet<number>, all: number): string =>
  values.size === all ? "*" : [...values].toSorted((a, b) => a - b).join(",");

const modulo = (value: number, by: number): number => ((value % by) + by) % by;

function common(a: number, b: number): number {
  return b === 0 ? a : common(b, a % b);
}
