/** How a process writes jobs. `connect` and the runtime bind one, and `job.enqueue()` uses it. */
import type { JobId } from "../job/job.ts";
import type { Tx } from "./transaction.ts";

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
   * the message follows within about a minute, when a worker or a pass finds the outbox batch open. Never throws, and
   * harmless after a rollback or a second time: a message is only a hint. Of several jobs of one call any one's is enough.
   */
  readonly afterCommit?: () => Promise<void>;
}

export interface EnqueueClient {
  /** `definition` is one that a `define` function made. */
  enqueue(
    definition: { readonly id: string },
    items: readonly EnqueueItem[],
    options?: { tx?: Tx | undefined; trace?: string | undefined },
  ): Promise<readonly Enqueued[]>;
}

let bound: EnqueueClient | null = null;

/** Makes `job.enqueue()` work in this process. `null` unbinds. */
export function bindClient(client: EnqueueClient | null): void {
  bound = client;
}

/** @throws Error when this process never connected. */
export function boundClient(): EnqueueClient {
  if (bound === null) {
    throw new Error(
      "Belfry is not connected in this process: call `await connect()` before enqueueing, or enqueue inside a handler",
    );
  }
  return bound;
}
