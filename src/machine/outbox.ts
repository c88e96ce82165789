/** Messages and the promise to send them. */
import type { BatchOf, JobId, RunId } from "./job.ts";
import type { LeftTurns } from "./turn.ts";

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

/**
 * What a committed change leaves to do: `run/after-commit.ts` does it. Dispatching is the exception: `run/relay.ts`
 * sends what it dispatched, while it reads the next page.
 */

export interface Aftermath {
  /** Messages that the change decided to send. */
  readonly outbox: readonly OutboxBatch[];
  /** Runs of which a job ended, or that have something to add up: resolve them. */
  readonly runs: readonly RunId[];
  /** Slot keys that became free: wake the jobs they hold. */
  readonly freed: readonly string[];
  /** Lanes with rows that are due and were left waiting: relay them. */
  readonly leftToRelay: readonly string[];
  /** Lanes of which jobs that take turns ended, and keys of new jobs that wait for theirs. */
  readonly turns: LeftTurns;
  /** Batches that new jobs wait in: start those that are full. */
  readonly batches: readonly BatchOf[];
}

/** What several changes leave to do, as one. */
export const mergeAftermaths = (parts: readonly Aftermath[]): Aftermath => ({
  outbox: parts.flatMap((part) => part.outbox),
  runs: [...new Set(parts.flatMap((part) => part.runs))],
  freed: [...new Set(parts.flatMap((part) => part.freed))],
  leftToRelay: [...new Set(parts.flatMap((part) => part.leftToRelay))],
  turns: {
    lanes: [...new Set(parts.flatMap((part) => part.turns.lanes))],
    keys: [...new Set(parts.flatMap((part) => part.turns.keys))],
  },
  batches: parts.flatMap((part) => part.batches),
});

export const noAftermath: Aftermath = {
  outbox: [],
  runs: [],
  freed: [],
  leftToRelay: [],
  turns: { lanes: [], keys: [] },
  batches: [],
};
