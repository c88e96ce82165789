import type { Duration } from "../calendar/duration.ts";
import type { CalendarDefinition } from "./define-calendar.ts";
import type { ByStage } from "./stage.ts";

/** Settings of one lane. Defaults come from `topology.ts`. */
export interface LaneDefinition {
  readonly batchSize?: number | ByStage<number>;
  /** Worker processes at once, at least 2. */
  readonly concurrency?: number | ByStage<number>;
  /**
   * Of jobs with `fairness` or `priority`: how many are sent to the queue, as a multiple of what runs at once, 1 to 4. What is sent keeps
   * its order, so less lets a newcomer start sooner, and more keeps workers busier. Default 1.25.
   */
  readonly ahead?: number;
  /** What one step of `priority` is worth: a low job starts before normal ones that were due so much later. Default `5m`; 1s to 1d. */
  readonly aging?: Duration;
  /** When none of its jobs starts; what runs goes on. Jobs that are due then wait, and start in their order afterwards. */
  readonly blackouts?: readonly Blackout[];
}

/** A part of the day, or whole days, in which no job of a lane starts. */
export interface Blackout {
  /** The zone of its clock, like `Asia/Seoul`. */
  readonly timezone: string;
  /** `HH:MM`. Default `00:00`. A time that the clock skips is the moment of the jump; of one it shows twice, the first. */
  readonly from?: string;
  /** `HH:MM`, of the next day when it is not after `from`. Default `24:00`. Of a time that the clock shows twice, the second. */
  readonly to?: string;
  /** On which days it begins. Default: on each. */
  readonly on?: CalendarDefinition;
}
