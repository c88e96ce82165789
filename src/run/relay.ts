import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { Fence } from "../machine/fence.ts";
import type { OutboxBatch } from "../machine/outbox.ts";
import type { Ports } from "../machine/ports.ts";
import type { LeftTurns } from "../machine/turn.ts";
import { sendOutbox } from "./send.ts";

type RelayPorts = Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint">;

interface RelayOptions {
  readonly lane?: string | undefined;
  readonly fence?: Fence | undefined;
  readonly signal?: AbortSignal;
}

/**
 * Dispatches the waiting rows that are due within the dispatch window: rows of the future, and rows that were missed.
 * Two batches are sent at once, because the queue is slower than the database; each is sent as soon as it is claimed, since
 * a claimed batch that waits would be taken for one whose sender died.
 */
export async function relay(ports: RelayPorts, options: RelayOptions = {}): Promise<Record<string, number>> {
  let rows = 0;
  let sending: Promise<unknown> = Promise.resolve();
  try {
    for (let round = 0; round < deliveryLimits.relayRoundsMax; round += 1) {
      const outbox = await claimDue(ports, options);
      const before = sending;
      sending = sendOutbox(ports, outbox);
      await before;
      const moved = count(outbox);
      rows += moved;
      if (moved < deliveryLimits.relayRowsMax || options.signal?.aborted === true) break;
    }
  } finally {
    await sending;
  }
  return { relayed: rows };
}

async function claimDue(ports: RelayPorts, options: RelayOptions): Promise<readonly OutboxBatch[]> {
  const outbox = await ports.store.relay({
    limit: deliveryLimits.relayRowsMax,
    lane: options.lane,
    fence: options.fence,
  });
  if (outbox.length > 0) await ports.crashPoint?.("relay.claimed");
  return outbox;
}

/**
 * Sends open outbox batches again, page by page, until none is left or a queue refuses some. An hour of failed sends can be
 * many pages, because each enqueue has its own batch. What was sent again before is counted by lane: a first time is usual,
 * as after an enqueue in a transaction of the caller's; a second one means that sending fails.
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
      messagesMax: deliveryLimits.messagesResentMax,
      lane: options.lane,
      fence: options.fence,
    });
    for (const { lane, messages, resent: times } of outbox) {
      if (times > 1) ports.metrics.add("messages.resent", messages.length, "Count", { lane });
    }
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
  const outbox = await ports.store.wake({
    slotKeys: options.slotKeys,
    limit: deliveryLimits.wakeRowsMax,
    fence: options.fence,
  });
  await sendOutbox(ports, outbox);
  return { woken: count(outbox) };
}

/** Dispatches jobs that wait for their turn, as far as their lanes have places for them. */
export async function giveTurns(
  ports: RelayPorts,
  { of, fence }: Pick<RelayOptions, "fence"> & { readonly of: LeftTurns | "all" },
): Promise<Record<string, number>> {
  const outbox = await ports.store.takeTurns({ of, limit: deliveryLimits.relayRowsMax, fence });
  await sendOutbox(ports, outbox);
  return { turns: count(outbox) };
}

const count = (outbox: readonly OutboxBatch[]): number => outbox.reduce((sum, batch) => sum + batch.messages.length, 0);
