import { dayMs, hourMs, minuteMs } from "../machine/units.ts";
import { type CronRule, daysOf } from "./cron.ts";
import type { Instant } from "../machine/job.ts";

/**
 * A reading: one minute (or second) of a wall clock, as the milliseconds UTC would have if its clock read the same.
 * `reading = instant + offset`. Readings know nothing of zones: also those that a clock skips exist here.
 */
export type WallTime = number;

/** The readings that an expression matches in `[from, before)`, in order. The caller bounds the search by `before`. */
export function* wallTimes(cron: CronRule, from: WallTime, before: WallTime): Generator<WallTime, void, undefined> {
  const start = new Date(from);
  for (let months = 0; ; months++) {
    const monthStart = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, 1);
    if (!(monthStart < before)) return;
    const month = new Date(monthStart);
    for (const day of daysOf(cron, month.getUTCFullYear(), month.getUTCMonth() + 1)) {
      const dayStart = monthStart + (day - 1) * dayMs;
      if (dayStart + dayMs > from) yield* readingsOfDay(cron, dayStart, from, before);
    }
  }
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
export const secondText = (instant: Instant): string => new Date(instant).toISOString().replace(/(?:\.000)?Z$/, "");
