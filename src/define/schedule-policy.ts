import type { Launch, OnExcluded } from "../machine/schedule.ts";
import type { CalendarDefinition } from "./define-calendar.ts";
import type { Duration } from "../calendar/duration.ts";
import type { ScheduleObjective } from "./objective.ts";
import type { PerStage } from "./stage.ts";

/** An instant: ISO 8601 with `Z` or an offset, so that it means the same everywhere. */
export type InstantText = `${number}-${number}-${number}T${number}:${string}`;

export interface CatchUp {
  /** Older nominal times are SKIPPED `misfire`. */
  readonly maxAge?: Duration;
  /** The newest this many are caught up, the others SKIPPED `misfire`. */
  readonly maxCount?: number;
  /** Time between two caught-up jobs. Default 1s. */
  readonly pace?: Duration;
}

/** A nominal time is done when its job is SUCCESS and the run that the job started, if any, is DONE. */
export interface ScheduleAfter {
  /** The id of the schedule whose nominal times it takes. */
  readonly schedule: string;
  /** A time that is not done this long after itself is SKIPPED `not-followed`: 1s to 7d. */
  readonly within: Duration;
  /** `success` (default): only a time that is done. `end`: also one that failed or was canceled after its start. */
  readonly on?: "success" | "end";
}

export interface SchedulePolicies {
  /** What happens to nominal times that passed while no scheduler ran. Default `latest`: a job for the newest, the rest COALESCED. */
  readonly misfire?: "skip" | "latest" | "all" | { readonly all: CatchUp };
  /**
   * A fire while the job of the one before is unfinished, decided when it starts. Default `allow`. `skip`: it is SKIPPED.
   * `queue-one`: one waits. `queue-all`: each waits, in the order of their times, 1,000 at most. `cancel-running`: the one before
   * is canceled, a run with all its jobs, and the latest time starts once its handler has stopped; not with misfire `all`, nor
   * for a fan-out with `materializeBefore`.
   */
  readonly overlap?: "skip" | "queue-one" | "queue-all" | "cancel-running" | "allow";
  /**
   * Each of its times is due a fixed part of this after itself, 0 seconds or more and less than all of it, by a hash of app and id:
   * 1s to 1d, and at most the smallest gap between two of its times. Only with `cron` and `every`. Lateness, misfire and
   * `startDeadline` count from when it is due; order, calendars, chains and versions go by the nominal time. (systemd calls it
   * FixedRandomDelay.)
   */
  readonly spread?: Duration;
  /**
   * What is promised of its times: `belfry schedules objectives` says what is left of it, and alarms ring when it is used up too
   * fast.
   */
  readonly objective?: ScheduleObjective;
  /**
   * No attempt of its job starts later than this after the time it is due: the time is then SKIPPED `expired`, even one that
   * would be caught up. For a graph or fan-out it bounds the job that starts the run. Default: no deadline.
   */
  readonly startDeadline?: Duration;
  /** It does not fire on days of these calendars: `onExcluded` says what becomes of such times. Only with `cron`. */
  readonly except?: CalendarDefinition | readonly CalendarDefinition[];
  /** It fires only on days of this calendar. */
  readonly only?: CalendarDefinition;
  /**
   * What becomes of a time whose date is excluded. Default `skip`: SKIPPED `excluded`. `next`, `previous`: it fires at the same
   * reading of the clock on the nearest later or earlier day that is not excluded, at most 31 days away; else it is skipped.
   * `next-business-day`, `previous-business-day`: the same, and where no calendar of the schedule names weekdays, Saturdays and
   * Sundays do not count either. Two times that fire at one instant become one.
   */
  readonly onExcluded?: OnExcluded;
  readonly startAt?: InstantText;
  readonly endAt?: InstantText;
  /** Default true. By stage: a stage that is not named is off. */
  readonly enabled?: PerStage<boolean>;
  /**
   * Default `tick`: the scheduler's passes plan its times and a worker runs its jobs. `rule`: its own EventBridge rule starts a
   * task that takes the schedule's lock and runs the job, at most once a minute. May differ by stage.
   */
  readonly launch?: PerStage<Launch>;
}
