import { describe, expect, test } from "vitest";
import { deliveryLimits } from "../../src/core/ports/delivery-limits.ts";
import type { JobId } from "../../src/core/job/job.ts";
import type { OutboxBatch, Store } from "../../src/core/ports/ports.ts";
import { relay, resendOpen, wakeHeld } from "../../src/core/delivery/relay.ts";
import { rescue } from "../../src/core/delivery/rescue.ts";
import { resolveRuns } from "../../src/core/delivery/resolve-runs.ts";
import { noAftermath } from "../../src/core/ports/aftermath.ts";
import { atOnce } from "../support/rescue-at-once.ts";
import { lane, registryFor, world } from "./world.ts";

let batches = 0;
function batchOf(rows: number): readonly OutboxBatch[] {
  const id = String(++batches);
  const messages = Array.from({ length: rows }, (_, index) => {
    return { jobId: `${id}.${index}` as JobId, generation: 1, trace: "t", delayMs: 0 };
  });
  return rows === 0 ? [] : [{ id, resent: 0, lane, messages }];
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

describe("a rescue", () => {
  /** Rounds of at most two rows, in which so many leases have ended and so many rows are moved. */
  async function rescued(
    { leases = 1, rows = 2 },
    options: { rounds: number; lane?: string; signal?: AbortSignal; stopIn?: AbortController },
  ) {
    let rounds = 0;
    const ended = Array.from({ length: leases }, (_, n) => ({ id: `${n}`, until: 0, ms: 1_000 }));
    const ports = world(({ store }) => ({
      store: Object.assign({}, store, {
        lapsedLeases: async () => ended,
        rescue: async () => {
          rounds += 1;
          options.stopIn?.abort();
          const row = { jobId: "1", kind: "k", state: "QUEUED" };
          return { rows: Array.from({ length: rows }, () => row), aftermath: noAftermath };
        },
      }),
    }));
    const { stopIn: _, ...bounds } = options;
    const counts = await rescue(ports, registryFor(), { lapsed: atOnce, limit: 2, ...bounds });
    return [rounds, counts["rescued"], ports.measured.length];
  }

  test.each([0, 1, 2, 3])("makes %d full rounds of as many", async (rounds) => {
    expect(await rescued({}, { rounds })).toEqual([rounds, 2 * rounds, 2 * rounds]);
  });

  test("ends with a round that is not full, with one that finds none in its lane, and when it must stop", async () => {
    expect(await rescued({ rows: 1 }, { rounds: 3 })).toEqual([1, 1, 1]);
    expect(await rescued({ leases: 0 }, { rounds: 3, lane })).toEqual([0, 0, 0]);
    expect(await rescued({ leases: 0 }, { rounds: 3 })).toEqual([3, 6, 6]);
    expect(await rescued({}, { rounds: 3, lane })).toEqual([3, 6, 6]);
    expect(await rescued({}, { rounds: 3, signal: AbortSignal.abort() })).toEqual([0, 0, 0]);
    const stopIn = new AbortController();
    expect(await rescued({}, { rounds: 3, signal: stopIn.signal, stopIn })).toEqual([1, 2, 2]);
  });
});

describe("resolving runs", () => {
  /** Rounds that each take so many steps, close one run, and say whether there is more. */
  async function resolved(steps: number, more: boolean, options: { rounds: number; signal?: AbortSignal }) {
    let rounds = 0;
    const closed = [{ runId: "1", kind: "k", state: "SUCCESS" }];
    const ports = world(({ store }) => ({
      store: Object.assign({}, store, {
        resolve: async () => ((rounds += 1), { steps, more, closed, aftermath: noAftermath }),
      }),
    }));
    return [await resolveRuns(ports, { runs: "all", ...options }), rounds];
  }
  const counts = (steps: number, closed: number) => ({ resolved: steps, "runs.closed": closed });

  test.each([0, 1, 2, 3])("makes %d rounds of as many while there is more", async (rounds) => {
    expect(await resolved(5, true, { rounds })).toEqual([counts(5 * rounds, rounds), rounds]);
    expect(await resolved(1, true, { rounds })).toEqual([counts(rounds, rounds), rounds]);
  });

  test("ends when there is no more, when nothing was done, and when it must stop", async () => {
    expect(await resolved(5, false, { rounds: 3 })).toEqual([counts(5, 1), 1]);
    expect(await resolved(0, true, { rounds: 3 })).toEqual([counts(0, 1), 1]);
    expect(await resolved(0, false, { rounds: 3 })).toEqual([counts(0, 1), 1]);
    expect(await resolved(5, true, { rounds: 3, signal: AbortSignal.abort() })).toEqual([counts(0, 0), 0]);
  });
});
