/** Messages and the promise to send them. */
import type { JobId } from "../job/job.ts";

/** A message is a hint to claim; the row decides. */
export interface Message {
  readonly jobId: JobId;
  readonly generation: number;
  readonly trace: string;
}

export interface OutMessage extends Message {
  /** Milliseconds until it is due; the queue adapter rounds down to seconds and clamps to its maximum. */
  readonly delayMs: number;
}

/** Messages that one committed statement decided to send. An unconfirmed batch is sent again by the next process that finds it. */
export interface OutboxBatch {
  readonly id: string;
  readonly lane: string;
  readonly messages: readonly OutMessage[];
}
