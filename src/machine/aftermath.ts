/**
 * What a committed change leaves to do: `delivery/after-commit.ts` does it. Dispatching is the exception: `delivery/relay.ts`
 * sends what it dispatched, while it reads the next page.
 */
import type { OutboxBatch } from "./outbox.ts";
import type { RunId } from "./job.ts";

export interface Aftermath {
  /** Messages that the change decided to send. */
  readonly outbox: readonly OutboxBatch[];
  /** Runs of which a job ended, or that have something to add up: resolve them. */
  readonly runs: readonly RunId[];
  /** Slot keys that became free: wake the jobs they hold. */
  readonly freed: readonly string[];
  /** Lanes with rows that are due and were left waiting: relay them. */
  readonly leftToRelay: readonly string[];
}

/** What several changes leave to do, as one. */
export const mergeAftermaths = (parts: readonly Aftermath[]): Aftermath => ({
  outbox: parts.flatMap((part) => part.outbox),
  runs: [...new Set(parts.flatMap((part) => part.runs))],
  freed: [...new Set(parts.flatMap((part) => part.freed))],
  leftToRelay: [...new Set(parts.flatMap((part) => part.leftToRelay))],
});

export const noAftermath: Aftermath = { outbox: [], runs: [], freed: [], leftToRelay: [] };
