import { describe, expect, test } from "vitest";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { FenceLost } from "../../src/machine/fence.ts";
import { type Queue } from "../../src/machine/ports.ts";
import { type Store } from "../../src/machine/store.ts";
import { relay, resendOpen } from "../../src/run/relay.ts";
import { aRow } from "./rows.ts";
import { lane, type World, withStore, withQueue } from "./world.ts";

const { dispatchWindowMs } = contractLimits;

/** Rows that wait and are due by now. */
async function withWaiting(rows: number, faults: (store: Store) => Partial<Store> = () => ({})): Promise<World> {
  const ports = withStore(faults);
  const later = Array.from({ length: rows }, () => ({ ...aRow, delayMs: dispatchWindowMs + 1_000 }));
  for (let from = 0; from < rows; from += contractLimits.insertRowsMax) {
    await ports.store.insert(later.slice(from, from + contractLimits.insertRowsMax));
  }
  await ports.clock.advance(dispatchWindowMs + 1_000);
  return ports;
}

describe("the relay", () => {
  test("hands off everything that is due, by bounded batches, and confirms it", async () => {
    const ports = await withWaiting(deliveryLimits.relayRowsMax * 2 + 7);
    expect(await relay(ports)).toEqual({ relayed: deliveryLimits.relayRowsMax * 2 + 7 });
    expect(ports.queue.size(lane)).toBe(deliveryLimits.relayRowsMax * 2 + 7);
    expect(ports.store.tables.outbox.size).toBe(0);
    expect(ports.passed.filter((name) => name === "relay.claimed")).toHaveLength(3);
  });

  test("claims the next batch while it sends the one before", async () => {
    const ports = await withWaiting(deliveryLimits.relayRowsMax + 1);
    await relay(ports);
    expect(ports.passed.slice(0, 3)).toEqual(["relay.claimed", "relay.claimed", "relay.sent"]);
  });

  test("has sent what it claimed when a later claim loses the fence", async () => {
    let calls = 0;
    const ports = await withWaiting(deliveryLimits.relayRowsMax * 3, (store) => ({
      relay: (options) => (++calls === 2 ? Promise.reject(new FenceLost("newer")) : store.relay(options)),
    }));
    await expect(relay(ports)).rejects.toBeInstanceOf(FenceLost);
    expect(ports.queue.size(lane)).toBe(deliveryLimits.relayRowsMax);
    expect(ports.store.tables.outbox.size).toBe(0);
  });

  test("claims no more once it has to stop", async () => {
    const stop = new AbortController();
    const ports = await withWaiting(deliveryLimits.relayRowsMax * 3, (store) => ({
      relay: (options) => {
        stop.abort();
        return store.relay(options);
      },
    }));
    expect(await relay(ports, { signal: stop.signal })).toEqual({
      relayed: deliveryLimits.relayRowsMax,
    });
  });
});

describe("sending open outbox batches again", () => {
  /** One outbox batch for each of so many enqueues that a queue did not take, long enough ago. */
  async function withOpen(rows: number, send?: (queue: Queue) => Queue["send"]): Promise<World> {
    const ports = withQueue((queue) => (send === undefined ? {} : { send: send(queue) }));
    for (let row = 0; row < rows; row += 1) await ports.store.insert([aRow]);
    await ports.clock.advance(deliveryLimits.outboxOpenMs + 1_000);
    return ports;
  }

  test("catches up after a queue was away: many enqueues a pass, not one page of them", async () => {
    const ports = await withOpen(deliveryLimits.batchesResentMax * 5);
    expect(await resendOpen(ports, { rounds: deliveryLimits.relayRoundsMax })).toEqual({
      resent: deliveryLimits.batchesResentMax * 5,
    });
    expect(ports.queue.size(lane)).toBe(deliveryLimits.batchesResentMax * 5);
    expect(ports.store.tables.outbox.size).toBe(0);
  });

  test("ends with the first page that a queue does not take", async () => {
    let calls = 0;
    const ports = await withOpen(deliveryLimits.batchesResentMax * 5, () => async (_lane, messages) => {
      calls += 1;
      return { failed: messages.map((_, index) => index) };
    });
    await resendOpen(ports, { rounds: deliveryLimits.relayRoundsMax });
    expect(calls).toBe(deliveryLimits.batchesResentMax / contractLimits.sendBatchMax);
  });
});
