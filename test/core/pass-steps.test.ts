import { describe, expect, test } from "vitest";
import { lockLimits } from "../../src/core/lock/lock-limits.ts";
import { acquire } from "../../src/core/scheduler/acquire.ts";
import { passLimits } from "../../src/core/scheduler/pass-limits.ts";
import { pass, runPasses, schedulerLock } from "../../src/core/scheduler/pass.ts";
import { registryFor, world, type World } from "./world.ts";

test("a pass makes each step, in this order; when it is told to stop, none", async () => {
  const one = (signal: AbortSignal): Promise<Readonly<Record<string, number>>> =>
    pass(world(), registryFor(), { stage: "test", signal });
  const counted =
    "schedules occurrences missed payload.failed undecided runs.withdrawn relayed resent rescued resolved runs.closed jobs.canceled requeued woken pruned pruned.occurrences";
  expect(Object.keys(await one(new AbortController().signal))).toEqual(counted.split(" "));
  expect(await one(AbortSignal.abort())).toEqual({});
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
