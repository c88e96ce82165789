/** When a schedule fires: the nominal times of any expression, in windows, forwards and backwards. */
import { dayMs } from "../job/units.ts";
import { type CronRule, parseCron } from "./cron.ts";
import { type CronTimes, cronTimes, type Dst, type NominalTime, resolveDst } from "./fires.ts";
import type { Instant } from "../job/job.ts";
import { scheduleLimits } from "../ports/schedule-limits.ts";
import { wallTimes, secondText } from "./wall-time.ts";
import type { ScheduleSpec } from "../ports/schedule.ts";
import { openZone, tzVersion, type Zone } from "./zone.ts";

/** The part of a spec that says when. `[startAt, endAt)`: a time at `startAt` counts, one at `endAt` does not. */
export type FirePattern = Pick<ScheduleSpec, "expression" | "timezone" | "dst" | "startAt" | "endAt">;

export interface Timetable {
  /** Nominal times in `(after, until]`, lazily and in order: those at one instant follow each other, the firing one first. */
  times(after: Instant, until: Instant): Iterable<NominalTime>;
  /** The first nominal time after an instant, even one that is SKIPPED `dst-gap`; null at the end. */
  next(after: Instant): NominalTime | null;
}

/** @throws RangeError when the stored expression or zone cannot be read. */
export function timetable(when: FirePattern): Timetable {
  const start = when.startAt ?? Number.NEGATIVE_INFINITY;
  const end = when.endAt === null ? Number.POSITIVE_INFINITY : when.endAt - 1;
  const whole = wholeTimetable(when);
  return {
    times: (after, until) => whole.times(Math.max(after, start - 1), Math.min(until, end)),
    next(after) {
      const time = whole.next(Math.max(after, start - 1));
      return time !== null && time.instant <= end ? time : null;
    },
  };
}

/** When it fires next; null at the end, and for an expression or zone that cannot be read here. */
export function nextFiring(when: FirePattern, after: Instant): Instant | null {
  try {
    return nextFire(when, after)?.instant ?? null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/**
 * Two schedulers with different tz data would give one reading two instants, so the older one does not plan the schedule.
 * @returns null when a process with this data may compute its times, else why not. UTC and elapsed time need no data.
 */
export function tzProblem(
  { expression, timezone, tzVersion: needed }: Pick<ScheduleSpec, "expression" | "timezone" | "tzVersion">,
  ours: string = tzVersion,
): string | null {
  if (needed <= ours || expression.form !== "cron" || timezone === "UTC") return null;
  return `its times were computed with tz data ${needed}, this scheduler has ${ours}: deploy it with a newer Node`;
}

function wholeTimetable(when: FirePattern): Timetable {
  const { expression } = when;
  if (expression.form === "every") return everyTimes(expression.everyMs, when.startAt ?? 0);
  if (expression.form === "at") return atTime(expression.at);
  return cronTimetable(checkedCron(expression.cron), openZone(when.timezone), when.dst);
}

/** The first `max` times, and with them all that share the last one's instant. */
export function take(times: Iterable<NominalTime>, max: number): readonly NominalTime[] {
  const taken: NominalTime[] = [];
  for (const time of times) {
    if (taken.length >= max && time.instant !== taken.at(-1)?.instant) break;
    taken.push(time);
  }
  return taken;
}

/** The next time that fires; null when the schedule has ended. */
export function nextFire(when: FirePattern, after: Instant): NominalTime | null {
  const table = timetable(when);
  let time = table.next(after);
  // The rule `skip` leaves out at most the readings of a few gaps in a row.
  for (let round = 0; round < scheduleLimits.gapReadingsMax && time?.kind === "dst-gap"; round++)
    time = table.next(time.instant);
  return time;
}

/** The last `count` firing times in `(after, until]`, in order. Searches back in growing steps, so its cost follows `count`. */
export function newestTimes(table: Timetable, after: Instant, until: Instant, count: number): readonly NominalTime[] {
  let newest: readonly NominalTime[] = [];
  let low = until;
  for (let span = 3_600_000; low > after && newest.length < count; span *= 4) {
    const high = low;
    low = Math.max(after, low - span);
    const fires: NominalTime[] = [];
    for (const time of table.times(low, high)) if (time.kind === "fires") fires.push(time);
    newest = [...fires, ...newest];
  }
  return newest.slice(-count);
}

/** Multiples of the period from `startAt`, or from 1970 when there is none: a deploy or an edit does not move them. */
function everyTimes(everyMs: number, anchor: Instant): Timetable {
  const following = (instant: Instant): Instant => anchor + (Math.floor((instant - anchor) / everyMs) + 1) * everyMs;
  return {
    *times(from, until) {
      for (let instant = following(from); instant <= until; instant += everyMs) yield elapsedTime(instant);
    },
    next: (from) => elapsedTime(following(from)),
  };
}

function atTime(at: Instant): Timetable {
  return {
    times: (after, until) => (at > after && at <= until ? [elapsedTime(at)] : []),
    next: (after) => (at > after ? elapsedTime(at) : null),
  };
}

const elapsedTime = (instant: Instant): NominalTime => ({
  localTime: secondText(instant),
  fold: 0,
  instant,
  kind: "fires",
  mergedInto: null,
});

function cronTimetable(cron: CronRule, zone: Zone, dst: Dst): Timetable {
  const parts = { cron, zone, rules: resolveDst(cron, dst) };
  return {
    times: (after, until) => cronTimes(parts, after, until),
    next: (after) => nextCronTime(parts, after),
  };
}

/**
 * Finds the next matching reading without the zone, then the instants in the days around it. A reading in a gap has no
 * instant, so the search continues, up to `nextFireYearsMax` ahead: longer than the longest pause of an expression that fires
 * (a fifth weekday in February, across 2100: 40 years). An expression that names its years is searched to the last one.
 */
function nextCronTime(parts: CronTimes, after: Instant): NominalTime | null {
  const { cron, zone } = parts;
  const lastYear = cron.years?.at(-1);
  const horizon =
    lastYear === undefined ? after + scheduleLimits.nextFireYearsMax * 366 * dayMs : Date.UTC(lastYear + 1, 0, 2);
  let cursor = after;
  while (cursor < horizon) {
    const near = first(cronTimes(parts, cursor, cursor + 2 * 3_600_000));
    if (near !== null) return near;
    // A clock may jump by up to a day: search from a day earlier to a day later.
    const reading = first(wallTimes(cron, cursor + zone.offsetAt(cursor) - dayMs, horizon + dayMs));
    if (reading === null) return null;
    const from = Math.max(cursor, reading - zone.offsetAt(cursor) - 2 * dayMs);
    const until = from + 5 * dayMs;
    const time = first(cronTimes(parts, from, until));
    if (time !== null) return time;
    cursor = until;
  }
  return null;
}

function first<T>(items: Iterable<T>): T | null {
  for (const item of items) return item;
  return null;
}

const parsed = new Map<string, CronRule>();

/** Cached: a tick reads the same expressions every minute. */
function checkedCron(text: string): CronRule {
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const result = parseCron(text);
  if (!result.ok) throw new RangeError(result.problem);
  if (parsed.size >= scheduleLimits.timetablesMax) parsed.clear();
  parsed.set(text, result.cron);
  return result.cron;
}
