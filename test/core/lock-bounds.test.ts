import { describe, expect, test } from "vitest";
import { lockLimits } from "../../src/core/lock/lock-limits.ts";
import { acquireLock, type Acquired, type HeldLock } from "../../src/core/lock/lock.ts";
import type { LockStore } from "../../src/core/ports/ports.ts";
import { acquire } from "../../src/core/scheduler/acquire.ts";
import { gate, world, type World } from "./world.ts";

const name = "nightly";
const down = (): Promise<never> => Promise.reject(new Error("503"));

const faulty = (faults: (locks: LockStore) => Partial<LockStore>): World =>
  world((base) => ({ locks: Object.assign({}, base.locks, faults(base.locks)) }));

const take = (ports: World, leaseMs = 30_000): Promise<Acquired> => acquireLock(ports, { name, owner: "a", leaseMs });

async function held(ports: World): Promise<HeldLock> {
  const got = await take(ports);
  if (got.got !== "lock") throw new Error(`the lock was not taken: ${got.got}`);
  return got.lock;
}

/** Looks at an item of another owner until it is taken: when, and which silence was written on the way. */
async function lookedAt(leaseMs: number, silentMs = 0) {
  const observed: number[] = [];
  const ports = faulty((locks) => ({
    observe: async (of, seen) => (observed.push(seen.silentMs), locks.observe(of, seen)),
  }));
  await ports.locks.take(name, { owner: "dead", rvn: "r0", leaseMs, overRvn: null });
  ports.locks.items.set(name, { owner: "dead", rvn: "r0", fence: 1, leaseMs, silentMs, seenAt: null });
  const taken = take(ports).then(() => ports.clock.elapsedMs());
  await ports.clock.advance(2 * leaseMs);
  return { tookMs: await taken, observed };
}

describe("looks at a silent holder", () => {
  test.each([
    [10, 0, 10, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    [5, 0, 5, [0, 1, 2, 3, 4]],
    [100, 85, 15, [85, 95]],
    [100, 1, 99, [1, 11, 21, 31, 41, 51, 61, 71, 81, 91]],
    [100, 100, 0, []],
  ])("come ten times a lease of %d ms that was silent for %d, and end with it: after %d ms", async (...given) => {
    const [leaseMs, silentMs, tookMs, observed] = given;
    expect(await lookedAt(leaseMs, silentMs)).toEqual({ tookMs, observed });
  });
});

describe("taking", () => {
  test("a free lock reads it once", async () => {
    let reads = 0;
    const ports = faulty((locks) => ({ read: (of) => ((reads += 1), locks.read(of)) }));
    await held(ports);
    expect(reads).toBe(1);
  });

  test("one that another took and gave back in between is left to the next task that asks", async () => {
    const ports = faulty(() => ({ take: async () => null }));
    expect(await take(ports)).toEqual({ got: "held", by: "(just released)" });
  });

  test("is tried for ten seconds of errors, whenever they begin", async () => {
    const ports = faulty(() => ({ read: down }));
    await ports.clock.advance(3 * lockLimits.lockOutageMs);
    const seen: Acquired[] = [];
    void take(ports).then((got) => seen.push(got));
    await ports.clock.advance(lockLimits.lockOutageMs - 1);
    expect(seen).toEqual([]);
    await ports.clock.advance(1);
    expect(seen).toEqual([{ got: "outage", error: new Error("503") }]);
  });
});

test("a lock whose release fails is renewed no more, also when a renewal was under way", async () => {
  const open = gate();
  let renewals = 0;
  const ports = faulty(() => ({ renew: () => ((renewals += 1), open.promise.then(() => true)), release: down }));
  const lock = await held(ports);
  await ports.clock.advance(10_000);
  await lock.release();
  open.open();
  await ports.clock.advance(60_000);
  expect([renewals, ports.clock.pending()]).toEqual([1, 0]);
});

test("a raise that is refused leaves the lock with the fence it had", async () => {
  const ports = faulty(() => ({ raise: async () => false }));
  const lock = await held(ports);
  expect(await lock.raise(41)).toBe(false);
  expect(lock.fence).toBe(1);
});

test.each([true, false])("a heartbeat that answers %s after the release changes nothing", async (isRenewed) => {
  const answers: ((value: boolean) => void)[] = [];
  const ports = faulty(() => ({ renew: () => new Promise((resolve) => answers.push(resolve)) }));
  const lock = await held(ports);
  await ports.clock.advance(10_000);
  expect(answers).toHaveLength(1);
  await lock.release();
  answers[0]?.(isRenewed);
  await ports.clock.settle();
  expect(lock.lost.aborted).toBe(false);
  expect(ports.clock.pending()).toBe(0);
});

describe("the fallback lock in Postgres", () => {
  const taken = (installed: (token: number) => number) => {
    const released: number[] = [];
    const ports = world(({ store }) => ({
      locks: Object.assign({}, world().locks, { read: down, take: down }),
      store: Object.assign({}, store, {
        installFence: async ({ token }: { readonly token: number }) => installed(token),
        releaseFallback: async (of: string, owner: string, fence: number) => {
          released.push(fence);
          await store.releaseFallback(of, owner, fence);
        },
      }),
    }));
    const signal = new AbortController().signal;
    const got = acquire(ports, { lockName: name, owner: "a", onLockOutage: "postgres", signal });
    return { got, ports, released };
  };

  test.each([
    [-1, null],
    [0, "a newer holder"],
    [1, "a newer holder"],
  ])("is had only with a fence above the one in force, here %d from it", async (ahead, heldBy) => {
    const { got, ports, released } = taken((token) => token + ahead);
    await ports.clock.advance(lockLimits.lockOutageMs);
    const answer = await got;
    const raised = "lock" in answer ? await answer.lock.raise(9) : null;
    expect(raised).toBe(heldBy === null ? false : null);
    if ("lock" in answer) await answer.lock.release();
    expect("lock" in answer ? null : answer.heldBy).toBe(heldBy);
    expect(released).toEqual([1]);
    expect(ports.clock.pending()).toBe(0);
  });
});
