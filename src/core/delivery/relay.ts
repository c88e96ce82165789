import { deliveryLimits } from "../ports/delivery-limits.ts";
import type { Fence, OutboxBatch, Ports } from "../ports/ports.ts";
import { sendOutbox } from "./send.ts";

type RelayPorts = Pick<Ports, "store" | "queue" | "log" | "crashPoint">;

interface RelayOptions {
  readonly lane?: string;
  readonly fence?: Fence;
  readonly signal?: AbortSignal;
}

/**
 * Hands off the waiting rows that are due within the dispatch window: the safety net, and the path of later rows.
 * While two batches are sent the next is claimed: the queue is slower than the database, so it never waits for it.
 */
export async function relay(
  ports: RelayPorts,
  options: RelayOptions & { dispatchWindowMs: number },
): Promise<Record<string, number>> {
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
      next = goesOn ? toldLater(claimDue(ports, options)) : null;
      const before = sending;
      sending = toldLater(sendOutbox(ports, outbox));
      await before;
      rows += moved;
    }
  } finally {
    await sending;
  }
  return { relayed: rows };
}

/** A failure that is awaited, and thus thrown, only when its turn comes. */
function toldLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

async function claimDue(
  ports: RelayPorts,
  options: RelayOptions & { dispatchWindowMs: number },
): Promise<readonly OutboxBatch[]> {
  const outbox = await ports.store.relay({
    dispatchWindowMs: options.dispatchWindowMs,
    limit: deliveryLimits.relayRowsMax,
    ...scope(options),
  });
  if (outbox.length > 0) await ports.crashPoint("relay.claimed");
  return outbox;
}

/**
 * Sends again what a dead or refused sender left open, a page at a time, until there is no more or a queue does not take all.
 * Each enqueue that a queue missed is one hand-off, so that an hour of them is many pages.
 */
export async function resendOpen(
  ports: RelayPorts,
  options: RelayOptions & { rounds: number },
): Promise<Record<string, number>> {
  let resent = 0;
  for (let round = 0; round < options.rounds && options.signal?.aborted !== true; round += 1) {
    const outbox = await ports.store.reopen({
      olderThanMs: deliveryLimits.outboxOpenMs,
      limit: deliveryLimits.handoffsResentMax,
      ...scope(options),
    });
    const open = count(outbox);
    resent += open;
    if ((await sendOutbox(ports, outbox)) < open || open === 0) break;
  }
  return { resent };
}

/** Hands off held rows for which a slot is free. */
export async function wakeHeld(
  ports: RelayPorts,
  options: Pick<RelayOptions, "fence" | "signal"> & { slotKeys: readonly string[] | "all" },
): Promise<Record<string, number>> {
  if (options.slotKeys !== "all" && options.slotKeys.length === 0) return { woken: 0 };
  const outbox = await ports.store.wake({
    slotKeys: options.slotKeys,
    limit: deliveryLimits.wakeRowsMax,
    ...(options.fence === undefined ? {} : { fence: options.fence }),
  });
  await sendOutbox(ports, outbox);
  return { woken: count(outbox) };
}

const count = (outbox: readonly OutboxBatch[]): number =>
  outbox.reduce((sum, handoff) => sum + handoff.messages.length, 0);

const scope = (options: RelayOptions): { lane?: string; fence?: Fence } => ({
  ...(options.lane === undefined ? {} : { lane: options.lane }),
  ...(options.fence === undefined ? {} : { fence: options.fence }),
});
