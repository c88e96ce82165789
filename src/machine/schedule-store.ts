/** The part of the store that changes schedules at run time. */
import type { Instant } from "./job.ts";
import type { Fence } from "./fence.ts";
import type { NewPause } from "./pause.ts";
import type { OccurrenceView, PlannedOccurrence, ScheduleRow, ScheduleSpec } from "./schedule.ts";
import type { InSameTransaction, MovedRows } from "./transaction.ts";

/** What was in force from `fromAt` on. `spec` is null from the moment the schedule was deleted. */
export interface ScheduleVersion {
  readonly version: number;
  readonly spec: ScheduleSpec | null;
  readonly fromAt: Instant;
}

export interface ScheduleFacts {
  readonly now: Instant;
  /** Null when it was deleted. */
  readonly row: ScheduleRow | null;
  /** The ledger is complete since then; null when the schedule was deleted. */
  readonly ledgerFrom: Instant | null;
  /** The oldest first. */
  readonly versions: readonly ScheduleVersion[];
}

/**
 * `code`: it is defined in code, and code wins for its own ids. `canceling`: it was removed and made again, and jobs from before
 * are still being canceled. `version`: it stands at another one than was wanted.
 */
export type ScheduleRefusal =
  | { readonly refused: "exists" | "unknown" | "code" | "canceling" }
  | { readonly refused: "version"; readonly version: number };

export interface ScheduleChangeOptions {
  /** The versions of which one must stand; left out: any. */
  readonly ifVersions?: readonly number[];
}

/** One time of a backfill; its occurrence has a job. `version` is the one that was in force then. */
export interface BackfillTime {
  readonly occurrence: PlannedOccurrence;
  readonly version: number;
}

export interface Backfilled {
  /** Times that had no row and have one now. */
  readonly added: number;
  /** Times that were SKIPPED or COALESCED and are PLANNED again. */
  readonly again: number;
}

/** Every method is one transaction and locks the schedule's row first, so that a tick and an edit cannot interleave. */
export interface ScheduleControlStore {
  /** Null when there never was a schedule of this id. */
  scheduleFacts(id: string): Promise<ScheduleFacts | null>;
  /** A schedule made by people. Its version continues that of an earlier one with the same id. */
  createSchedule(spec: ScheduleSpec): Promise<ScheduleRow | ScheduleRefusal>;
  /** A new version from now on. Later PLANNED times are withdrawn; an equal spec changes nothing. */
  updateSchedule(spec: ScheduleSpec, options?: ScheduleChangeOptions): Promise<ScheduleRow | ScheduleRefusal>;
  /** Also for a schedule of code; null resumes it. It takes effect at the claim: planned times stay planned. */
  pauseSchedule(id: string, pause: NewPause | null): Promise<ScheduleRow | ScheduleRefusal>;
  /**
   * Withdraws later PLANNED times; nothing of it starts any more, because a claim skips its jobs and `cancelRemoved` cancels those
   * that wait. Ledger and versions stay. The next tick decides the undecided times up to now: SKIPPED `deleted` where they would have
   * run. From here on only `dueSchedules` sees the schedule. @returns how many jobs of past times wait, at most
   * `insightLimits.countedRowsMax`.
   */
  deleteSchedule(
    id: string,
    /** `ofCode`: also one that came from code, since the caller knows that no code has it any more. */
    options?: ScheduleChangeOptions & { readonly ofCode?: boolean },
  ): Promise<{ readonly waiting: number } | ScheduleRefusal>;
  /**
   * Ends the removal of schedules of which no job waits: the row goes when its times are decided, or is like any other where the
   * schedule came back. @returns of how many schedules jobs wait.
   */
  endRemovals(options?: { readonly fence?: Fence | undefined }): Promise<number>;
  /** Cancels a page of the jobs that wait of removed schedules. */
  cancelRemoved(options: {
    readonly limit: number;
    readonly fence?: Fence | undefined;
    readonly inSameTransaction?: InSameTransaction;
  }): Promise<MovedRows>;
  /** How many jobs of removed schedules are still to be canceled, `limit` at most. */
  removedJobs(limit: number): Promise<number>;
  /** Rows with `from <= nominalAt <= until`, the oldest first. */
  occurrencesBetween(id: string, from: Instant, until: Instant, limit: number): Promise<readonly OccurrenceView[]>;
  /**
   * Plans times again or for the first time, each due `paceMs` after the one before, and after jobs that an earlier backfill
   * left waiting under the same `slotKey`. Unchanged: a time that has run, runs or waits, a second reading of an instant, and a
   * time whose job ended in an attempt. A job that was SKIPPED or CANCELED before it ran is used again, with its id and
   * history. The rows are PENDING: relay afterwards. Refused while a removal cancels the jobs from before it.
   */
  backfill(
    scheduleId: string,
    times: readonly BackfillTime[],
    options: { readonly paceMs: number; readonly slotKey: string },
  ): Promise<Backfilled | ScheduleRefusal>;
}
