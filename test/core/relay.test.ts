import { describe, expect, test } from "vitest";
import { limits } from "../../src/core/limits.ts";
import { FenceLost, type Store } from "../../src/core/ports.ts";
import { relay } from "../../src/core/relay.ts";
import { aRow } from "./rows.ts";
import { lane, world, type World } from "./world.ts";

const { lookAheadMs } = limits;

/** Rows that wait and are due by now. */
async function withWaiting(rows: number, faults: (store: Store) => Partial<Store> = () => ({})): Promise<World> {
  const ports = world((base) => ({ store: Object.assign({}, base.store, faults(base.store)) }));
  const later = Array.from({ length: rows }, () => ({ ...aRow, delayMs: lookAheadMs + 1_000 }));
  for (let from = 0; from < rows; from += limits.insertRowsMax) {
    await ports.store.insert(later.slice(from, from + limits.insertRowsMax), { lookAheadMs });
  }
  await ports.clock.advance(lookAheadMs + 1_000);
  return ports;
}

describe("the relay", () => {
  test("hands off everything that is due, by bounded batches, and confirms it", async () => {
    const ports = await withWaiting(limits.relayRowsMax * 2 + 7);
    expect(await relay(ports, { lookAheadMs })).toEqual({ relayed: limits.relayRowsMax * 2 + 7 });
    expect(ports.queue.size(lane)).toBe(limits.relayRowsMax * 2 + 7);
    expect(ports.store.tables.handoffs.size).toBe(0);
    expect(ports.passed.filter((name) => name === "relay.claimed")).toHaveLength(3);
  });

  test("claims nothing when nothing is due", async () => {
    const ports = await withWaiting(0);
    expect(await relay(ports, { lookAheadMs })).toEqual({ relayed: 0 });
    expect(ports.passed).toEqual([]);
  });

  test("claims the next batch while it sends the one before", async () => {
    const ports = await withWaiting(limits.relayRowsMax + 1);
    await relay(ports, { lookAheadMs });
    expect(ports.passed.slice(0, 3)).toEqual(["relay.claimed", "relay.claimed", "relay.sent"]);
  });

  test("has sent what it claimed when a later claim loses the fence", async () => {
    let calls = 0;
    const ports = await withWaiting(limits.relayRowsMax * 3, (store) => ({
      relay: (options) => (++calls === 2 ? Promise.reject(new FenceLost("newer")) : store.relay(options)),
    }));
    await expect(relay(ports, { lookAheadMs })).rejects.toBeInstanceOf(FenceLost);
    expect(ports.queue.size(lane)).toBe(limits.relayRowsMax);
    expect(ports.store.tables.handoffs.size).toBe(0);
  });

  test("claims no more once it is told to stop", async () => {
    const stop = new AbortController();
    const ports = await withWaiting(limits.relayRowsMax * 3, (store) => ({
      relay: (options) => {
        stop.abort();
        return store.relay(options);
      },
    }));
    expect(await relay(ports, { lookAheadMs, signal: stop.signal })).toEqual({ relayed: limits.relayRowsMax });
  });
});
