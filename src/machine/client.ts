/** How a process writes jobs. `connect` and the runtime bind one, and `job.enqueue()` uses it. */
import type { JobId } from "./job.ts";
import type { CallerTx } from "./transaction.ts";

export interface EnqueueItem {
  readonly payload: unknown;
  readonly key?: string | undefined;
  readonly delayMs?: number | undefined;
  readonly dueAt?: Date | undefined;
}

export interface Enqueued {
  readonly id: JobId;
  readonly created: boolean;
  /**
   * Present for an enqueue in the caller's own transaction: sends the message. Call it right after the commit; without it
   * a worker or a pass sends it within about a minute. Never throws, and is harmless after a rollback or when repeated,
   * because a message is only a hint. One call is enough for all jobs of one enqueue.
   */
  readonly afterCommit?: () => Promise<void>;
}

export interface EnqueueSettings {
  readonly tx?: CallerTx | undefined;
  readonly trace?: string | undefined;
  /** Of several cells, the one to write into. */
  readonly cell?: string | undefined;
}

export interface EnqueueClient {
  /** `definition` is one that a `define` function made. */
  enqueue(
    definition: { readonly id: string },
    items: readonly EnqueueItem[],
    options?: EnqueueSettings,
  ): Promise<readonly Enqueued[]>;
}

const bound: unique symbol = Symbol.for("belfry.client@1");
/** One for all copies of Belfry in the process. */
const place = globalThis as { [bound]?: EnqueueClient | null };

/** Makes `job.enqueue()` work in this process. `null` unbinds. */
export function bindClient(client: EnqueueClient | null): void {
  place[bound] = client;
}

/** @throws Error when this process never connected. */
export function boundClient(): EnqueueClient {
  const client = place[bound];
  if (!client) {
    throw new Error(
      "Belfry is not connected in this process: call `await connect()` before enqueueing, enqueue inside a handler, or in a test after `await createTestSystem(...)`",
    );
  }
  return client;
}
