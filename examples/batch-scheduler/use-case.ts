import { PermanentError, type BatchResult } from "belfry";
import type { Deliver, Item, Reader, Verdict, Writer } from "./ports.ts";

export interface RetryPolicy {
  readonly maxAttempts: number;
  /** Wait after the first failed try, in milliseconds (1 or more); doubles with each further one. */
  readonly backoffMs: number;
}

export interface RetryParts<T extends Item, R> {
  readonly reader: Reader<T>;
  readonly deliver: Deliver<T, R>;
  readonly writer: Writer<T, R>;
}

/** One turn of a scheduler: call `execute` until it has no more. */
export interface RetryTurn {
  execute(size: number): Promise<BatchResult>;
}

/** The use case of both schedulers: deliver what waits, a bounded batch at a time; one item's failure is its own. */
export async function beginTurn<T extends Item, R>(
  parts: RetryParts<T, R>,
  { policy, signal }: { policy: RetryPolicy; signal: AbortSignal },
): Promise<RetryTurn> {
  const turn = await parts.reader.begin();
  return {
    async execute(size) {
      const { items, hasMore } = await parts.reader.next(turn, size);
      let succeeded = 0;
      let failed = 0;
      for (const item of items) {
        const verdict = await tryOne(parts.deliver, item, policy, signal);
        // A try that was cut off by the worker's stop says nothing about the item: it stays as it was.
        if (verdict === null) return { processed: succeeded + failed, succeeded, failed, hasMore: true };
        await parts.writer.save(turn, item, verdict);
        if (verdict.state === "done") succeeded += 1;
        else failed += 1;
      }
      return { processed: items.length, succeeded, failed, hasMore };
    },
  };
}

async function tryOne<T extends Item, R>(deliver: Deliver<T, R>, item: T, policy: RetryPolicy, signal: AbortSignal) {
  if (signal.aborted) return null;
  try {
    const value = await deliver(item, signal);
    return value === false ? afterFailure(item, policy, new Error("refused")) : { state: "done" as const, value };
  } catch (error) {
    return signal.aborted ? null : afterFailure(item, policy, error);
  }
}

function afterFailure(item: Item, policy: RetryPolicy, error: unknown): Verdict<never> {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof PermanentError || item.attempts + 1 >= policy.maxAttempts)
    return { state: "failed", error: message };
  return { state: "again", afterMs: policy.backoffMs * 2 ** item.attempts, error: message };
}
