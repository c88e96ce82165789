import type { Launch } from "../ports/schedule.ts";
import type { Duration } from "../calendar/duration.ts";
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

export interface SchedulePolicies {
  /** What follows nominal times nobody was awake for. Default `latest`: one job for the newest, the others COALESCED. */
  readonly misfire?: "skip" | "latest" | "all" | { readonly all: CatchUp };
  /** A fire while the job of the one before is unfinished. Default `allow`; `skip` and `queue-one` are decided when it starts. */
  readonly overlap?: "skip" | "queue-one" | "allow";
  /**
   * No try of its job starts later than this after the nominal time: the time is then SKIPPED `expired`, also one that would
   * be caught up. Of a graph or fan-out it is the job that starts the run. Default: it is worth running however late.
   */
  readonly startDeadline?: Duration;
  readonly startAt?: InstantText;
  readonly endAt?: InstantText;
  /** Default true. By stage: a stage that is not named is off. */
  readonly enabled?: PerStage<boolean>;
  /**
   * Default `tick`: the scheduler's passes plan it ahead and a worker does the work. `rule`: an EventBridge rule of its own
   * starts a task that takes the schedule's lock and does the work itself; at most once a minute. May differ by stage.
   */
  readonly launch?: PerStage<Launch>;
}
