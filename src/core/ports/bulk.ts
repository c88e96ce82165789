import type { Instant, JobId } from "../job/job.ts";
import type { BoundedCount, JobSearch } from "./job-search.ts";

/** What a request may do with every job that matches. */
export const jobActions = ["retry", "cancel"] as const;
export type JobAction = (typeof jobActions)[number];
/** `backfill` plans past times of the schedule that its search names, from `dueFrom` to `dueTo`, both included. */
export const bulkActions = [...jobActions, "backfill"] as const;
export type BulkAction = (typeof bulkActions)[number];

/** One job of each group that goes first, alone; the rest follows only if all of them succeed. `failed` stops the change. */
export interface BulkCanary {
  readonly state: "wanted" | "out" | "passed" | "failed";
  readonly jobs: readonly JobId[];
}

/** A change of all jobs that match and existed at the request. Done in pages; another process resumes it after a crash. */
export interface Bulk {
  readonly id: string;
  readonly action: BulkAction;
  readonly search: JobSearch;
  readonly caller: string;
  readonly state: "RUNNING" | "DONE" | "STOPPED";
  /** Jobs below this id are not done yet. */
  readonly next: string;
  /** At the request. */
  readonly matched: BoundedCount;
  /** Between the due times of two retried jobs; 0 is at once. */
  readonly paceMs: number;
  /** Of the next retried job. */
  readonly dueAt: Instant;
  /** Null: none was asked for. */
  readonly canary: BulkCanary | null;
  readonly changed: number;
  /** Did not match, and run again because a job of their run does. */
  readonly takenAlong: number;
  /** Matched, but another process moved them first; of a backfill, times without a payload. */
  readonly refused: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly finishedAt: Instant | null;
}
