/** The part of the store's port by which people steer schedules at run time, and ask what became of a time. */
import type { Instant, JobId, JobView } from "../job/job.ts";
import type { RunId } from "./run.ts";
import type { OccurrenceView, PlannedOccurrence, ScheduleRow, ScheduleSpec } from "./schedule.ts";

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
  /** The ledger is complete from here on; null when the schedule was deleted. */
  readonly ledgerFrom: Instant | null;
  /** The oldest first. */
  readonly eras: readonly ScheduleVersion[];
}

/** `code`: it is defined in code, and code wins for its own ids. `version`: it stands at another one than was wanted. */
export type ScheduleRefusal =
  { readonly refused: "exists" | "unknown" | "code" } | { readonly refused: "version"; readonly version: number };

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

export interface SlotHolder {
  readonly job: JobView;
  /** The job had ended, and the run that it had started was still going. */
  readonly runId: RunId | null;
}

/** Every method is one transaction and takes the schedule's row first, so that a tick and an edit cannot interleave. */
export interface ScheduleControlStore {
  /** Null when there never was a schedule of this id. */
  scheduleFacts(id: string): Promise<ScheduleFacts | null>;
  /** A schedule made by people. Its version goes on from an earlier one of the same id. */
  createSchedule(spec: ScheduleSpec): Promise<ScheduleRow | ScheduleRefusal>;
  /** A new version, from now on. What was PLANNED after now is withdrawn; an equal spec changes nothing. */
  updateSchedule(spec: ScheduleSpec, options?: ScheduleChangeOptions): Promise<ScheduleRow | ScheduleRefusal>;
  /** Also of one that code defines. Decided at claim: what is planned stays planned. */
  pauseSchedule(id: string, paused: boolean): Promise<ScheduleRow | ScheduleRefusal>;
  /**
   * Withdraws what was PLANNED after now, and cancels what was due and has not started: nothing of it starts any more.
   * Its ledger and versions stay; times up to now that nobody has decided are left to the next tick, SKIPPED `deleted`
   * where they would have run. From here on every method but `dueSchedules` says that there is none. @returns how many jobs of past times were canceled.
   */
  deleteSchedule(
    id: string,
    /** `ofCode`: also one that came from code, since the caller knows that no code has it any more. */
    options?: ScheduleChangeOptions & { readonly ofCode?: boolean },
  ): Promise<{ readonly canceled: number } | ScheduleRefusal>;
  /** Rows by wall-clock reading or instant, for `explain`; at most `scheduleLimits.answersMax`. */
  occurrencesAt(
    id: string,
    at: { readonly localTimes: readonly string[]; readonly instants: readonly Instant[] },
  ): Promise<readonly OccurrenceView[]>;
  /** Rows with `from <= nominalAt <= until`, the oldest first. */
  occurrencesBetween(id: string, from: Instant, until: Instant, limit: number): Promise<readonly OccurrenceView[]>;
  /**
   * Plans times again or for the first time, each due `paceMs` after the one before (and after those that an earlier
   * backfill left waiting under the same `slotKey`). Left alone: a time that has run, runs or waits, a second reading of
   * an instant, and one whose job was ended by its own try. A job that was SKIPPED or CANCELED before it ran is used
   * again: same id and history. The rows are PENDING: relay afterwards.
   */
  backfill(
    scheduleId: string,
    times: readonly BackfillTime[],
    options: { readonly paceMs: number; readonly slotKey: string },
  ): Promise<Backfilled | ScheduleRefusal>;
  /**
   * Which job held a slot with this prefix that `jobId` needed, at that time, by itself or by the run it had started; null
   * when nobody can say any more.
   */
  slotHolder(jobId: JobId, options: { readonly at: Instant; readonly prefix: string }): Promise<SlotHolder | null>;
}
