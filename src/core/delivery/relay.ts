import { deliveryLimits } from "../ports/delivery-limits.ts";
import type { Fence, OutboxBatch, Ports } from "../ports/ports.ts";
import { sendOutbox } from "./send.ts";

type RelayPorts = Pick<Ports, "store" | "queue" | "log" | "crashPoint">;

interface RelayOptions {
  readonly lane?: string | undefined;
  readonly fence?: Fence | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Dispatches the waiting rows that are due within the dispatch window: rows of the future, and rows that were missed.
 * The next batch is read while two are sent, because the queue is slower than the database.
 */
export async function relay(ports: RelayPorts, options: RelayOptions = {}): Promise<Record<string, number>> {
  let rows = 0;
  let sending: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly OutboxBatch[]> | null = claimDue(ports, options);
  try {
    for (let round = 1; next !== null; round += 1) {
      const outbox: readonly OutboxBatch[] = await next;
      const moved = count(outbox);
      const goesOn =
        moved >= deliveryLimits.relayRowsMax &&
        round < deliveryLimits.relayRoundsMax &&
        options.signal?.aborted !== true;
      next = goesOn ? thrownWhenAwaited(claimDue(ports, options)) : null;
      const before = sending;
      sending = thrownWhenAwaited(sendOutbox(ports, outbox));
      await before;
      rows += moved;
    }
  } finally {
    await sending;
  }
  return { relayed: rows };
}

/** Keeps a failure from being an unhandled rejection until the promise is awaited. */
function thrownWhenAwaited<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

async function claimDue(ports: RelayPorts, options: RelayOptions): Promise<readonly OutboxBatch[]> {
  const outbox = await ports.store.relay({
    limit: deliveryLimits.relayRowsMax,
    lane: options.lane,
    fence: options.fence,
  });
  if (outbox.length > 0) await ports.crashPoint("relay.claimed");
  return outbox;
}

/**
 * Sends open outbox batches again, page by page, until none is left or a queue refuses some. An hour of failed sends can be
 * many pages, because each enqueue has its own batch.
 */
export async function resendOpen(
  ports: RelayPorts,
  options: RelayOptions & { rounds: number },
): Promise<Record<string, number>> {
  let resent = 0;
  for (let round = 0; round < options.rounds && options.signal?.aborted !== true; round += 1) {
    const outbox = await ports.store.reopen({
      olderThanMs: deliveryLimits.outboxOpenMs,
      limit: deliveryLimits.batchesResentMax,
      lane: options.lane,
      fence: options.fence,
    });
    const open = count(outbox);
    resent += open;
    if ((await sendOutbox(ports, outbox)) < open || open === 0) break;
  }
  return { resent };
}

/** Dispatches held rows for which a slot is free. */
export async function wakeHeld(
  ports: RelayPorts,
  options: Pick<RelayOptions, "fence" | "signal"> & { slotKeys: readonly string[] | "all" },
): Promise<Record<string, number>> {
  if (options.slotKeys.length === 0) return { woken: 0 };
  const outbox = await ports.store.wake({
    slotKeys: options.slotKeys,
    limit: deliveryLimits.wakeRowsMax,
    fence: options.fence,
  });
  await sendOutbox(ports, outbox);
  return { woken: count(outbox) };
}

const count = (outbox: readonly OutboxBatch[]): number => outbox.reduce((sum, batch) => sum + batch.messages.length, 0);
