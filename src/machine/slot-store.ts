import type { AttemptRef, Instant, SlotGroup } from "./job.ts";
import type { Aftermath } from "./outbox.ts";

/** Slots: what a cap, a rate, a lock or an overlap rule gives out. */
export interface SlotStore {
  /** Creates or resizes slot groups. `onlyNew`: those that exist keep their numbers, which a person may have changed. */
  installSlots(groups: readonly SlotGroup[], options?: { readonly onlyNew?: boolean }): Promise<void>;
  /** Frees the slots a canceled job kept until its handler was gone. */
  freeSlots(ended: readonly AttemptRef[]): Promise<Aftermath>;
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
