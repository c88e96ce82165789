import type { AttemptRef, Instant, JobId, RunId, SlotGroup } from "./job.ts";
import type { Aftermath } from "./outbox.ts";

/** Slots: what a cap, a rate, a lock or an overlap rule gives out. */
export interface SlotStore {
  /** Creates or resizes slot groups. `onlyNew`: those that exist keep their numbers, which a person may have changed. */
  installSlots(groups: readonly SlotGroup[], options?: { readonly onlyNew?: boolean }): Promise<void>;
  /**
   * What later times replace, of schedules under `cancel-running`: `keys`, or all for whose slot a job is held. `claimed`: jobs that
   * were just refused or begun.
   */
  replaced(keys: readonly string[] | "all", claimed?: readonly JobId[]): Promise<readonly Replaced[]>;
  /** Frees the slots a canceled job kept until its handler was gone. */
  freeSlots(ended: readonly AttemptRef[]): Promise<Aftermath>;
  /** The next unit of the rate of this key, if it is back within `withinMs`; from then on it is spent. Null: no such rate is installed. */
  takeUnit(key: string, options: { withinMs: number }): Promise<UnitTaken | null>;
}

/** By a later time of the schedule. */
export interface Replaced {
  readonly schedule: string;
  /** The later time. */
  readonly at: Instant;
  readonly jobs: readonly JobId[];
  /** Open runs that such jobs have started. */
  readonly runs: readonly RunId[];
}

export interface UnitTaken {
  /** When it is back; of one that was not taken, when the next may be. */
  readonly at: Instant;
  /** Until then, by the store's clock. */
  readonly waitMs: number;
  readonly isTaken: boolean;
  readonly aftermath: Aftermath;
}
