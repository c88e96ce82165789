import type { Instant } from "../job/job.ts";
import type { BoundedCount, JobSearch } from "./job-search.ts";

export const bulkActions = ["retry", "cancel"] as const;
export type BulkAction = (typeof bulkActions)[number];

/** A change of every job that matches and existed when it was asked for. It goes on page by page, whoever dies. */
export interface Bulk {
  readonly id: string;
  readonly action: BulkAction;
  readonly search: JobSearch;
  readonly caller: string;
  readonly state: "RUNNING" | "DONE" | "STOPPED";
  /** Jobs below this id are still to come. */
  readonly next: string;
  /** When it was asked for. */
  readonly matched: BoundedCount;
  /** Between the due times of two retried jobs; 0 is at once. */
  readonly paceMs: number;
  /** Of the next retried job. */
  readonly dueAt: Instant;
  readonly changed: number;
  /** Did not match, and run again because a job of their run does. */
  readonly takenAlong: number;
  /** Matched, but had moved before their turn. */
  readonly refused: number;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly finishedAt: Instant | null;
}
