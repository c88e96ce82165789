import { expect, test } from "vitest";
import { lockLimits } from "../../src/core/lock/lock-limits.ts";
import { acquire } from "../../src/core/scheduler/acquire.ts";
import { pass } from "../../src/core/scheduler/pass.ts";
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
