import { PermanentError, type BatchResult } from "belfry";
import type { Item, RetryPolicy, Tried } from "./items.ts";
import type { PublishPort, RetryPorts } from "./ports.ts";

/** One turn of a scheduler: call `execute` until it has no more. */
export interface RetryUseCase {
  execute(size: number): Promise<BatchResult>;
}

/** The use case of both schedulers: deliver what waits, a bounded batch at a time; one item's failure is its own. */
export async function beginTurn<T extends Item<V>, V>(
  { reader, publish, writer }: RetryPorts<T, V>,
  { policy, signal }: { policy: RetryPolicy; signal: AbortSignal },
): Promise<RetryUseCase> {
  const turn = await reader.begin();
  return {
    async execute(size) {
      const { items, hasMore } = await reader.findUnpublished(turn, size);
      let succeeded = 0;
      let failed = 0;
      for (const item of items) {
        const tried = await tryOne(item, publish, policy, signal);
        // An attempt that was cut off by the worker's stop says nothing about the item: it stays as it was.
        if (tried === null) return { processed: succeeded + failed, succeeded, failed, hasMore: true };
        await writer.persist(turn, tried);
        if (tried.error === null) succeeded += 1;
        else failed += 1;
      }
      return { processed: items.length, succeeded, failed, hasMore };
    },
  };
}

async function tryOne<T extends Item<V>, V>(
  item: T,
  publish: PublishPort<T, V>,
  policy: RetryPolicy,
  signal: AbortSignal,
): Promise<Tried<V> | null> {
  if (signal.aborted) return null;
  try {
    const value = await publish(item, signal);
    return value === false ? item.retryLater("refused", policy) : item.markDone(value);
  } catch (error) {
    if (signal.aborted) return null;
    const message = error instanceof Error ? error.message : String(error);
    return error instanceof PermanentError ? item.giveUp(message) : item.retryLater(message, policy);
  }
}
