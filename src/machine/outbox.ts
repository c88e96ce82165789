/** Messages and the promise to send them. */
import type { JobId } from "./job.ts";

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

/**
 * Messages that one committed statement decided to send. The next process that finds it sends it again, when its sender has
 * neither confirmed nor kept it for `deliveryLimits.outboxOpenMs`.
 */
export interface OutboxBatch {
  readonly id: string;
  /** How often it was taken to be sent again; the fence of its sender. */
  readonly resent: number;
  readonly lane: string;
  readonly messages: readonly OutMessage[];
}

/** A batch that is being sent, with the messages that the queue has not accepted yet. */
export interface KeptBatch {
  readonly id: string;
  readonly resent: number;
  readonly unsent: readonly JobId[];
}
