/** When a schedule fires: the nominal times of any expression, in windows, forwards and backwards. */
import { dayMs, hourMs } from "../machine/units.ts";
import { type CronRule, parseCron } from "./cron.ts";
import { type CronTimes, cronTimes, type Dst, type NominalTime, resolveDst } from "./fires.ts";
import type { Instant } from "../machine/job.ts";
import { madeOnce } from "./made-once.ts";
import { scheduleLimits } from "../machine/schedule-limits.ts";
import { wallTimes, secondText } from "./wall-time.ts";
import type { ScheduleSpec } from "../machine/schedule.ts";
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
  for (let time = table.next(after); time !== null; time = table.next(time.instant)) {
    if (time.kind === "fires") return time;
    // All times of an expression may lie in gaps, year after year.
    if (time.instant > after + searchMs) return null;
  }
  return null;
}

/** The last `count` firing times in `(after, until]`, in order. Searches growing windows, so its cost follows `count`. */
export function newestTimes(table: Timetable, after: Instant, until: Instant, count: number): readonly NominalTime[] {
  for (let span = hourMs; ; span *= 4) {
    const low = Math.max(after, until - span);
    const fires = [...table.times(low, until)].filter((time) => time.kind === "fires");
    if (fires.length >= count || low === after) return fires.slice(-count);
  }
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

/** Longer than any expression pauses, and than from 1970 to 2199, the years that it can name. */
const searchMs = scheduleLimits.nextFireYearsMax * 366 * dayMs;
const windowMs = 5 * dayMs;

/** Looks at some days; where they have no time, it goes on with the days around the next reading, found without the zone. */
function nextCronTime(parts: CronTimes, after: Instant): NominalTime | null {
  for (let cursor = after; ;) {
    const until = cursor + windowMs;
    const time = first(cronTimes(parts, cursor, until));
    if (time !== null) return time;
    // A reading is less than a day away from its instant.
    const reading = first(wallTimes(parts.cron, until - dayMs, after + searchMs));
    if (reading === null) return null;
    cursor = reading - dayMs;
  }
}

function first<T>(items: Iterable<T>): T | null {
  for (const item of items) return item;
  return null;
}

const parsed = new Map<string, CronRule>();

/** Cached: a tick reads the same expressions every minute. */
function checkedCron(text: string): CronRule {
  return madeOnce(parsed, scheduleLimits.timetablesMax, text, () => {
    const result = parseCron(text);
    if (!result.ok) throw new RangeError(result.problem);
    return result.cron;
  });
}
