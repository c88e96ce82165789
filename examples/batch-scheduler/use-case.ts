import { PermanentError, type BatchResult } from "belfry";
import type { Item, RetryPolicy, Tried } from "./items.ts";
import type { RetryPorts } from "./ports.ts";

export interface Turn {
  /** Only what was due then belongs to the turn, so it meets no item twice. */
  readonly startedAt: Date;
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal;
}

/** The use case of both schedulers: deliver what waits, a bounded batch at a time; one item's failure is its own. */
export function retryUseCase<T extends Item>({ reader, publish, writer }: RetryPorts<T>, turn: Turn) {
  const { startedAt, policy, signal } = turn;
  const tryOne = async (item: T): Promise<Tried> => {
    try {
      const answer = await publish(item, signal);
      return answer === false ? item.retryLater("refused", policy) : item.markPublished(answer);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return error instanceof PermanentError ? item.giveUp(message) : item.retryLater(message, policy);
    }
  };
  const execute = async (size: number): Promise<BatchResult> => {
    const { items, hasMore } = await reader.findUnpublished(startedAt, size);
    let [succeeded, failed] = [0, 0];
    for (const item of items) {
      const tried = signal.aborted ? null : await tryOne(item);
      // What a worker's stop cut off says nothing about the item; an answer that came in spite of it is kept.
      if (tried === null || (signal.aborted && tried.error !== undefined))
        return { processed: succeeded + failed, succeeded, failed, hasMore: true };
      await writer.persist(startedAt, tried);
      if (tried.error === undefined) succeeded += 1;
      else failed += 1;
    }
    return { processed: items.length, succeeded, failed, hasMore };
  };
  return { execute };
}
