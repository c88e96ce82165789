import { dayMs, hourMs, minuteMs } from "../job/units.ts";
import { type CronRule, daysOf } from "./cron.ts";
import type { Instant } from "../job/job.ts";

/**
 * A reading: one minute (or second) of a wall clock, as the milliseconds UTC would have if its clock read the same.
 * `reading = instant + offset`. Readings know nothing of zones: also those that a clock skips exist here.
 */
export type WallTime = number;

/** The readings that an expression matches in `[from, before)`, in order. The caller bounds the search by `before`. */
export function* wallTimes(cron: CronRule, from: WallTime, before: WallTime): Generator<WallTime, void, undefined> {
  const start = new Date(from);
  let year = start.getUTCFullYear();
  let month = start.getUTCMonth() + 1;
  for (;;) {
    const monthStart = Date.UTC(year, month - 1, 1);
    if (monthStart >= before || Number.isNaN(monthStart)) return;
    for (const day of daysOf(cron, year, month)) {
      const dayStart = monthStart + (day - 1) * dayMs;
      if (dayStart >= before) return;
      if (dayStart + dayMs > from) yield* readingsOfDay(cron, dayStart, from, before);
    }
    month += 1;
    if (month > 12) {
      month = 1;
      year = followingYear(cron, year);
    }
  }
}

/** Skips to the next year of an AWS expression that names its years; past the last one the search ends by `before`. */
function followingYear(cron: CronRule, year: number): number {
  if (cron.years === null) return year + 1;
  return cron.years.find((each) => each > year) ?? Number.NaN;
}

function* readingsOfDay(
  cron: CronRule,
  dayStart: WallTime,
  from: WallTime,
  before: WallTime,
): Generator<WallTime, void, undefined> {
  for (const hour of cron.hours) {
    const hourStart = dayStart + hour * hourMs;
    if (hourStart + hourMs <= from) continue;
    for (const minute of cron.minutes) {
      const reading = hourStart + minute * minuteMs;
      if (reading >= before) return;
      if (reading >= from) yield reading;
    }
  }
}

/** `YYYY-MM-DDTHH:MM`. */
export const minuteText = (reading: WallTime): string => new Date(reading).toISOString().slice(0, 16);

/** `YYYY-MM-DDTHH:MM:SS`, with milliseconds only where there are some, so that two instants never share a text. */
export function secondText(instant: Instant): string {
  const text = new Date(instant).toISOString();
  return instant % 1_000 === 0 ? text.slice(0, 19) : text.slice(0, 23);
}
