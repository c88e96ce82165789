import type { Fence } from "./fence.ts";
import type { OutboxBatch } from "./outbox.ts";
import type { LeftTurns, TurnLane } from "./turn.ts";

export interface TurnStore {
  /** Creates or changes lanes. Jobs that wait for a turn wait until their lane is installed. */
  installTurns(lanes: readonly TurnLane[]): Promise<void>;
  /**
   * Jobs that wait for their turn -> QUEUED, as many as their lane has places for: the key that had the least by its weight goes
   * first, of a key the earliest by due time and priority. At most `limit` of a lane.
   */
  takeTurns(options: {
    readonly of: LeftTurns | "all";
    readonly limit: number;
    readonly fence?: Fence | undefined;
  }): Promise<readonly OutboxBatch[]>;
}
