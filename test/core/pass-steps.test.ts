import { describe, expect, test } from "vitest";
import type { JobId } from "../../src/core/job/job.ts";
import { lockLimits } from "../../src/core/lock/lock-limits.ts";
import { deliveryLimits } from "../../src/core/ports/delivery-limits.ts";
import { noAftermath, type OutMessage } from "../../src/core/ports/ports.ts";
import { acquire } from "../../src/core/scheduler/acquire.ts";
import { passLimits } from "../../src/core/scheduler/pass-limits.ts";
import { pass, runPasses, schedulerLock } from "../../src/core/scheduler/pass.ts";
import { lane, registryFor, world, type World } from "./world.ts";

const aTask = { owner: "a", stage: "test", onLockOutage: "skip", signal: new AbortController().signal } as const;
const aMessage: OutMessage = { jobId: "1" as JobId, generation: 1, trace: "t", delayMs: 0 };

test("a pass makes each step, in this order; when it is told to stop, none", async () => {
  const one = (signal: AbortSignal): Promise<Readonly<Record<string, number>>> =>
    pass(world(), registryFor(), { stage: "test", signal });
  const counted =
    "schedules occurrences missed payload.failed undecided runs.withdrawn relayed resent rescued resolved runs.closed jobs.canceled requeued woken pruned pruned.occurrences";
  expect(Object.keys(await one(new AbortController().signal))).toEqual(counted.split(" "));
  expect(await one(AbortSignal.abort())).toEqual({});
});

test("a pass that is told to stop while it relays claims no more", async () => {
  const stop = new AbortController();
  let claims = 0;
  const messages = Array.from({ length: deliveryLimits.relayRowsMax }, () => aMessage);
  const ports = world(({ store }) => ({
    store: Object.assign({}, store, {
      relay: async () => (stop.abort(), [{ id: String(++claims), lane, messages }]),
      confirm: async () => {},
    }),
  }));
  await pass(ports, registryFor(), { stage: "test", signal: stop.signal });
  expect(claims).toBeLessThanOrEqual(2);
});

test("a lease that two passes of a task found expired is rescued", async () => {
  const leases: unknown[] = [];
  const lost = { id: "7", until: 1, ms: 1_000 };
  const ports = world(({ store }) => ({
    store: Object.assign({}, store, {
      lapsedLeases: async () => [lost],
      rescue: async (asked: { leases: unknown }) => (leases.push(asked.leases), { rows: [], aftermath: noAftermath }),
    }),
  }));
  const untilMs = deliveryLimits.rescueLookMsMax + passLimits.passIntervalMs;
  const running = runPasses(ports, registryFor(), { ...aTask, untilMs });
  await ports.clock.advance(untilMs + passLimits.passIntervalMs);
  await running;
  expect([leases[0], leases.at(-1)]).toEqual([[], [lost.id]]);
});

test("a second acquisition of one task finds the lock held by the first", async () => {
  const ports = world();
  const first = await acquire(ports, { ...aTask, lockName: "pass" });
  const second = acquire(ports, { ...aTask, lockName: "pass" });
  await ports.clock.advance(lockLimits.lockLeaseMs);
  expect(first).toHaveProperty("lock");
  expect(await second).toMatchObject({ outcome: "held" });
});

/** A database whose fence gets ahead of each of the first tokens. */
function ahead(times: number): World {
  let asked = 0;
  return world(({ store }) => ({
    store: Object.assign({}, store, {
      installFence: (fence: { name: string; token: number }) =>
        ++asked <= times ? Promise.resolve(fence.token + 5) : store.installFence(fence),
    }),
  }));
}

test("a lock is raised as often as its limit says, and then left to the newer holder", async () => {
  const taken = { lockName: "pass", owner: "a", onLockOutage: "skip", signal: new AbortController().signal } as const;
  const most = lockLimits.fenceRaisesMax - 1;
  expect(await acquire(ahead(most), taken)).toMatchObject({ fence: { name: "pass", token: 6 * most + 1 } });
  const beyond = ahead(most + 1);
  expect(await acquire(beyond, taken)).toEqual({ outcome: "held", heldBy: "a newer holder" });
  expect(beyond.locks.items.get("pass")?.owner).toBeNull();
});

describe("the note that a pass was made", () => {
  /** A task of this many milliseconds, each pass of which takes `passMs`: when it noted one. */
  async function noted(untilMs: number, passMs: number) {
    const at: number[] = [];
    const stop = new AbortController();
    const ports = world(({ store, clock }) => ({
      store: Object.assign({}, store, {
        passed: async () => void at.push(clock.elapsedMs()),
        prune: async (options: Parameters<typeof store.prune>[0]) => {
          if (passMs < 0) stop.abort();
          else await clock.sleep(passMs);
          return store.prune(options);
        },
      }),
    }));
    const task = { owner: "a", stage: "test", untilMs, onLockOutage: "skip", signal: stop.signal } as const;
    const running = runPasses(ports, registryFor(), task);
    await ports.clock.advance(untilMs + 10_000);
    const { passes } = await running;
    return { at, passes };
  }

  test("is written at the first pass and then every five seconds", async () => {
    expect(passLimits.passNotedMs).toBe(5 * passLimits.passIntervalMs);
    expect((await noted(12_500, 0)).at).toEqual([0, 5_000, 10_000]);
  });

  test("is written after the pass, and five seconds are counted from the note", async () => {
    expect(await noted(12_500, 100)).toEqual({ at: [100, 5_600, 11_100], passes: 12 });
  });

  test("is not written of a pass that was told to stop", async () => {
    expect(await noted(12_500, -1)).toEqual({ at: [], passes: 1 });
  });
});

test("a task that fails beside its steps gives the lock back and says why", async () => {
  const ports = world(({ clock }) => ({
    clock: Object.assign({}, clock, { sleep: () => Promise.reject(new Error("no timer")) }),
  }));
  const task = { owner: "a", stage: "test", untilMs: 1, onLockOutage: "skip", signal: new AbortController().signal };
  await expect(runPasses(ports, registryFor(), { ...task, onLockOutage: "skip" })).rejects.toThrow("no timer");
  expect(ports.locks.items.get(schedulerLock)?.owner).toBeNull();
});
