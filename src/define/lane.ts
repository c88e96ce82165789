import type { Duration } from "../calendar/duration.ts";
import type { Blackout } from "./blackout.ts";
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
