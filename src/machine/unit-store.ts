import type { Instant } from "./job.ts";
import type { Aftermath } from "./outbox.ts";

export interface UnitStore {
  /** The next unit of the rate of this key, if it is back within `withinMs`; from then on it is spent. Null: no such rate is installed. */
  takeUnit(key: string, options: { withinMs: number }): Promise<UnitTaken | null>;
}

export interface UnitTaken {
  /** When it is back; of one that was not taken, when the next may be. */
  readonly at: Instant;
  /** Until then, by the store's clock. */
  readonly waitMs: number;
  readonly isTaken: boolean;
  readonly aftermath: Aftermath;
}
