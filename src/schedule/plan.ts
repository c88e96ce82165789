import { type TimeDecision, decideTimes } from "./catch-up.ts";
import type { NominalTime } from "../calendar/fires.ts";
import type { Instant } from "../machine/job.ts";
import { scheduleLimits } from "../machine/schedule-limits.ts";
import type { Carry, ScheduleRow } from "../machine/schedule.ts";
import { take, type Timetable, timetable } from "../calendar/timetable.ts";

/** One schedule's decided times, before jobs are made for them. */
export interface SchedulePlan {
  readonly decisions: readonly TimeDecision[];
  readonly decidedUntil: Instant;
  /** When to look again, or null when the schedule has ended. */
  readonly nextAt: Instant | null;
  readonly carry: Carry | null;
  readonly missed: number;
  /** False when more times lie within the horizon than fit in one page. */
  readonly isComplete: boolean;
}

export interface SchedulePlanOptions {
  readonly now: Instant;
  readonly dispatchWindowMs: number;
  /** Times in a page. Readings of one gap stay together, so it may be more. */
  readonly timesMax: number;
  /** False for a version that an edit has ended: an outage continues into the next one. */
  readonly isLastVersion?: boolean;
}

/**
 * Decides every nominal time of an enabled schedule, after `decidedUntil` up to its horizon. Pure: the same row and now give
 * the same plan, so two concurrent schedulers write the same rows.
 * @throws RangeError when the stored expression or zone cannot be read.
 */
export function planSchedule(row: ScheduleRow, options: SchedulePlanOptions): SchedulePlan {
  const { spec, decidedUntil: after } = row;
  const { now } = options;
  const table = timetable(spec);
  const horizon = horizonOf(spec, options);
  const page = pageOf(table, after, horizon, options.timesMax);
  const decidedUntil = Math.max(after, page.isComplete ? horizon : (page.times.at(-1)?.instant ?? after));
  const { materializeBeforeMs, misfire } = spec;
  const decided = decideTimes(page.times, {
    table,
    misfire,
    after,
    now,
    materializeBeforeMs,
    carry: row.carry,
    isLastPage: page.isComplete && options.isLastVersion !== false,
  });
  const next = table.next(decidedUntil);
  return {
    ...decided,
    decidedUntil,
    nextAt:
      next === null
        ? null
        : next.instant - materializeBeforeMs + (spec.launch === "rule" ? scheduleLimits.ruleGraceMs : 0),
    isComplete: page.isComplete,
  };
}

/** A schedule with its own rule is left to its task, until the wake must have been lost. */
function horizonOf({ launch, materializeBeforeMs }: ScheduleRow["spec"], options: SchedulePlanOptions): Instant {
  if (launch === "rule") return options.now - scheduleLimits.ruleGraceMs;
  return options.now + options.dispatchWindowMs + materializeBeforeMs;
}

interface Page {
  readonly times: readonly NominalTime[];
  readonly isComplete: boolean;
}

/** The next times, bounded. */
function pageOf(table: Timetable, after: Instant, horizon: Instant, timesMax: number): Page {
  const times = take(table.times(after, horizon), timesMax);
  return { times, isComplete: times.length < timesMax };
}
