/** When a schedule fires: the nominal times of any expression, in windows, forwards and backwards. */
import { dayMs, hourMs } from "../machine/units.ts";
import { type CronRule, parseCron, wallTimes, secondText } from "./cron.ts";
import { dayRule } from "./days.ts";
import { calendarTimes } from "./excluded.ts";
import { changeMsMax, type CronTimes, cronTimes, type NominalTime, resolveDst } from "./fires.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Instant } from "../machine/job.ts";
import { madeOnce } from "../machine/made-once.ts";
import { effectiveAt, scheduleLimits, type ScheduleSpec } from "../machine/schedule.ts";
import { openZone, tzVersion, type Zone } from "./zone.ts";

/** The part of a spec that says when. `[startAt, endAt)`: a time at `startAt` counts, one at `endAt` does not. */
export type FirePattern = Pick<
  ScheduleSpec,
  "expression" | "timezone" | "dst" | "calendars" | "spread" | "startAt" | "endAt"
>;

export interface Timetable {
  /** Nominal times in `(after, until]`, lazily and in order: those at one instant follow each other, the firing one first. */
  times(after: Instant, until: Instant): Iterable<NominalTime>;
  /** The first nominal time after an instant, even one that is SKIPPED `dst-gap` or `excluded`; null at the end. */
  next(after: Instant): NominalTime | null;
  /** An instant before which, from the given one on, calendars exclude every day; null: they exclude all days after it. */
  open(from: Instant): Instant | null;
  /** How long after an instant a time that fires may come. */
  searchUntil(after: Instant): Instant;
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
    open: whole.open,
    searchUntil: whole.searchUntil,
  };
}

/** When its next time is due; null at the end, and for an expression or zone that cannot be read here. */
export function nextFiring(when: FirePattern, after: Instant): Instant | null {
  try {
    const next = nextFire(when, after - (when.spread?.offsetMs ?? 0));
    return next === null ? null : effectiveAt(when, next.instant);
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
  if (expression.form === "after") return { times: () => [], next: () => null, ...always };
  return cronTimetable(checkedCron(expression.cron), openZone(when.timezone), when);
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

/** The next time that fires; null when the schedule has ended. All others may lie in gaps, year after year, or be excluded. */
export function nextFire(when: FirePattern, after: Instant): NominalTime | null {
  const table = timetable(when);
  const until = table.searchUntil(after);
  for (let cursor: Instant | null = after; cursor !== null && cursor <= until;) {
    const next = table.next(cursor);
    if (next === null) return null;
    const day = next.instant + dayMs;
    for (const time of table.times(next.instant - 1, day)) if (time.kind === "fires") return time;
    cursor = table.open(day);
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
    ...always,
  };
}

function atTime(at: Instant): Timetable {
  return {
    times: (after, until) => (at > after && at <= until ? [elapsedTime(at)] : []),
    next: (after) => (at > after ? elapsedTime(at) : null),
    ...always,
  };
}

/** No calendar excludes a day. */
const always: Pick<Timetable, "open" | "searchUntil"> = {
  open: (from) => from,
  searchUntil: (after) => after + searchMs,
};

const elapsedTime = (instant: Instant): NominalTime => ({
  localTime: secondText(instant),
  fold: 0,
  instant,
  kind: "fires",
  mergedInto: null,
});

function cronTimetable(cron: CronRule, zone: Zone, { dst, calendars }: FirePattern): Timetable {
  const parts = { cron, zone, rules: resolveDst(cron, dst) };
  if (calendars === undefined) {
    const times: Timetable["times"] = (after, until) => cronTimes(parts, after, until);
    return { times, next: (after) => nextCronTime(parts, times, 0, after), ...always };
  }
  const days = dayRule(calendars);
  const times: Timetable["times"] = (after, until) => calendarTimes(parts, days, after, until);
  const reachMs = days.moves ? contractLimits.calendarDaysMoved * dayMs : 0;
  return {
    times,
    next: (after) => nextCronTime(parts, times, reachMs, after),
    open(from) {
      const day = days.openFrom(Math.floor((from - changeMsMax) / dayMs));
      return day === null ? null : Math.max(from, day * dayMs - changeMsMax);
    },
    searchUntil: (after) => Math.max(after, days.lastDate * dayMs) + scheduleLimits.calendarPatternYears * 366 * dayMs,
  };
}

/** Longer than any expression pauses, and than from 1970 to 2199, the years that it can name. */
const searchMs = scheduleLimits.nextFireYearsMax * 366 * dayMs;
const windowMs = 5 * dayMs;

/**
 * Looks at some days; where they have no time, it goes on with the days around the next reading, found without the zone. A
 * calendar moves a reading by at most `reachMs`.
 */
function nextCronTime(
  { cron }: CronTimes,
  times: Timetable["times"],
  reachMs: number,
  after: Instant,
): NominalTime | null {
  for (let cursor = after; ;) {
    const until = cursor + windowMs;
    const time = first(times(cursor, until));
    if (time !== null) return time;
    // A reading is less than a day away from its instant.
    const reading = first(wallTimes(cron, until - dayMs - reachMs, after + searchMs));
    if (reading === null) return null;
    cursor = Math.max(until, reading - dayMs - reachMs);
  }
}

function first<T>(items: Iterable<T>): T | null {
  for (const item of items) return item;
  return null;
}

const parsed = new Map<string, CronRule>();

/** Cached: a tick reads the same expressions every minute. */
function checkedCron(text: string): CronRule {
  const make = (): CronRule => {
    const result = parseCron(text);
    if (!result.ok) throw new RangeError(result.problem);
    return result.cron;
  };
  return madeOnce(parsed, text, make, scheduleLimits.timetablesMax);
}
