import type { Batched, BatchOf, JobId } from "./job.ts";
import type { Message, OutboxBatch } from "./outbox.ts";

/** A job that goes into a call with others. */
export interface Gathered extends Message {
  readonly kind: string;
  readonly key: string;
  /** The first job of its call. */
  readonly of: JobId;
  /** Its caller has started it already; the others are due now, and are still to be claimed. */
  readonly isStarted: boolean;
}

export interface BatchStore {
  /**
   * For jobs that this worker has just started: up to `max` with them, others of their kind, lane and batch key that would be due within
   * `waitMs`, the earliest first, become QUEUED and due now. Left out: held jobs, those that must run alone, and those that another session holds.
   * Messages of jobs that were not out yet are to be sent, in case this worker does not claim them.
   */
  gather(
    started: readonly (Omit<Batched, "key"> & { readonly jobId: JobId })[],
  ): Promise<{ readonly jobs: readonly Gathered[]; readonly outbox: readonly OutboxBatch[] }>;
  /** Where `max` jobs wait and none is due, the first is due now, by a message of its own. */
  startFull(batches: readonly BatchOf[]): Promise<readonly OutboxBatch[]>;
}
