import { timetable } from "../calendar/timetable.ts";
import { effectiveAt } from "../machine/schedule.ts";
import { iso } from "../machine/units.ts";
import type { ScheduleDefinition } from "../define/definition.ts";

/** @beta */
export interface TimesOptions {
  /** The first time counts when it is later than this, as `2031-03-30T00:00:00Z` or another text with a zone. */
  readonly after: string;
  readonly until: string;
  /** Whose values per stage count. Default `test`. */
  readonly stage?: string;
  /** The name of its app, by which it is spread. Default `test`. */
  readonly app?: string;
}

/** @beta */
export interface ScheduledTime {
  readonly at: string;
  /** When its job is due, if the schedule is spread. */
  readonly effectiveAt?: string;
  /** The reading in the schedule's own zone. */
  readonly localTime: string;
  /**
   * `merged`: another time fires at this very instant. `dst-gap`: the clock jumps over it and the schedule skips such times.
   * `excluded`: a calendar has its day, and it is not moved.
   */
  readonly kind: "fires" | "merged" | "dst-gap" | "excluded";
  /** Of an excluded day: the calendar and its entry, like `holidays: 2031-12-25 Christmas`. One that fires was moved to `at`. */
  readonly calendar?: string;
}

/** The nominal times of a schedule, as the scheduler decides them. @throws RangeError for a time that cannot be read. @beta */
export function timesOf(schedule: ScheduleDefinition, options: TimesOptions): readonly ScheduledTime[] {
  const spec = schedule.spec(options.stage ?? "test", options.app ?? "test");
  const table = timetable(spec);
  return [...table.times(instantOf("after", options.after), instantOf("until", options.until))].map((time) => ({
    at: iso(time.instant),
    ...(spec.spread === undefined ? {} : { effectiveAt: iso(effectiveAt(spec, time.instant)) }),
    localTime: time.localTime,
    kind: time.kind,
    ...(time.calendar === undefined ? {} : { calendar: time.calendar }),
  }));
}

export function instantOf(name: string, text: string): number {
  const instant = Date.parse(text);
  if (Number.isNaN(instant)) throw new RangeError(`${name} is "${text}"; write it like 2031-03-30T01:00:00Z`);
  return instant;
}
