import { describe, expect, test } from "vitest";
import { deliveryLimits } from "../../src/core/ports/delivery-limits.ts";
import type { JobId } from "../../src/core/job/job.ts";
import type { OutboxBatch, Store } from "../../src/core/ports/ports.ts";
import { relay, resendOpen, wakeHeld } from "../../src/core/delivery/relay.ts";
import { lane, world } from "./world.ts";

let batches = 0;
function batchOf(rows: number): readonly OutboxBatch[] {
  const id = String(++batches);
  const messages = Array.from({ length: rows }, (_, index) => {
    return { jobId: `${id}.${index}` as JobId, generation: 1, trace: "t", delayMs: 0 };
  });
  return rows === 0 ? [] : [{ id, lane, messages }];
}

/** A store that always has this many rows, a queue that refuses the first `refused` of a call, and how often it was read. */
function endless(rows: number, refused = 0) {
  const calls: string[] = [];
  const answer = async (name: string): Promise<readonly OutboxBatch[]> => {
    calls.push(name);
    return batchOf(rows);
  };
  const ports = world((base) => {
    const store: Partial<Store> = {
      relay: () => answer("relay"),
      reopen: () => answer("reopen"),
      wake: () => answer("wake"),
      confirm: async () => undefined,
    };
    return {
      store: Object.assign({}, base.store, store),
      queue: {
        ...base.queue,
        send: async (_lane, messages) => ({ failed: messages.slice(0, refused).map((_, index) => index) }),
      },
    };
  });
  return { ports, calls };
}

test("a relay reads at most so many full batches, and none after one that is not full", async () => {
  const full = endless(deliveryLimits.relayRowsMax);
  const most = deliveryLimits.relayRoundsMax;
  expect(await relay(full.ports)).toEqual({ relayed: most * deliveryLimits.relayRowsMax });
  expect(full.calls).toHaveLength(most);
  const short = endless(deliveryLimits.relayRowsMax - 1);
  await relay(short.ports);
  expect(short.calls).toHaveLength(1);
});

describe("sending open batches again", () => {
  test.each([0, 1, 2, 3])("reads %d pages of as many rounds while more are open", async (rounds) => {
    const { ports, calls } = endless(1);
    expect(await resendOpen(ports, { rounds })).toEqual({ resent: rounds });
    expect(calls).toHaveLength(rounds);
  });

  test("ends when none is open, when the queue refuses one, and when it must stop", async () => {
    const none = endless(0);
    expect(await resendOpen(none.ports, { rounds: 3 })).toEqual({ resent: 0 });
    expect(none.calls).toHaveLength(1);
    const refusing = endless(2, 1);
    expect(await resendOpen(refusing.ports, { rounds: 3 })).toEqual({ resent: 2 });
    expect(refusing.calls).toHaveLength(1);
    const stopped = endless(1);
    expect(await resendOpen(stopped.ports, { rounds: 3, signal: AbortSignal.abort() })).toEqual({ resent: 0 });
    expect(stopped.calls).toEqual([]);
  });
});

test.each([
  ["all", 1],
  [[], 0],
  [["a"], 1],
  [["a", "b"], 1],
] as const)("waking what %j holds reads %d times", async (slotKeys, reads) => {
  const { ports, calls } = endless(2);
  expect(await wakeHeld(ports, { slotKeys })).toEqual({ woken: 2 * reads });
  expect(calls).toHaveLength(reads);
});
