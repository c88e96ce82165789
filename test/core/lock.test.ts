import { describe, expect, test } from "vitest";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { lockLimits } from "../../src/machine/lock.ts";
import { world, type World, down, withLocks } from "./world.ts";
import { acquire, diedHolding, held, leaseMs, name, watched } from "./lock-rig.ts";

function itemOf({ items }: World["locks"]) {
  const item = items.get(name);
  if (item === undefined) throw new Error("no item");
  return item;
}

describe("taking a lock", () => {
  test.each([
    ["one's own, too", leaseMs],
    ["longer than one's own", 3 * leaseMs],
  ])("a silent holder is taken over after its whole lease, which is %s", async (_, ofMs) => {
    const ports = world();
    await ports.locks.take(name, { owner: "dead", rvn: "r0", leaseMs: ofMs, overRvn: null });
    const got = watched(acquire(ports, "b"));
    await ports.clock.advance(ofMs - 1);
    expect([got.value, ports.locks.items.get(name)?.owner]).toEqual([null, "dead"]);
    await ports.clock.advance(1);
    expect(got.value).toMatchObject({ got: "lock", lock: { fence: 2, owner: "b" } });
  });

  test("a holder that shows a sign of life answers held, long before its lease", async () => {
    const ports = world();
    await acquire(ports, "a");
    const got = watched(acquire(ports, "b"));
    await ports.clock.advance(leaseMs / contractLimits.heartbeatsPerLease + leaseMs / lockLimits.lockLooksPerLease);
    expect(got.value).toEqual({ got: "held", by: "a" });
  });

  test("a lock that is released while one watches is taken without waiting for a lease", async () => {
    const ports = world();
    const first = held(await acquire(ports, "a"));
    const got = watched(acquire(ports, "b"));
    await first.release();
    await ports.clock.advance(leaseMs / lockLimits.lockLooksPerLease);
    expect(got.value).toMatchObject({ got: "lock" });
  });

  test("a task that waits says once whom it waits for, and for how long that was silent", async () => {
    const ports = world();
    await diedHolding(ports);
    void acquire(ports, "b");
    await ports.clock.advance(leaseMs);
    const waiting = ports.lines.filter((line) => line.message.startsWith("waiting for"));
    expect(waiting.map((line) => line.message)).toEqual(["waiting for dead, silent for 3 s"]);
  });

  test("a signal to stop ends the watching", async () => {
    const ports = world();
    await diedHolding(ports);
    const stop = new AbortController();
    const got = watched(acquire(ports, "b", { signal: stop.signal }));
    await ports.clock.advance(1_000);
    stop.abort();
    await ports.clock.settle();
    expect(got.value).toMatchObject({ got: "held" });
    expect(ports.clock.pending()).toBe(0);
  });
});

test.each([
  [100, 0, 100],
  [100, 85, 15],
  [5, 0, 5],
  [100, 100, 0],
])("of a lease of %d ms that was silent for %d, %d are waited for", async (ofMs, silentMs, waitedMs) => {
  const ports = world();
  ports.locks.items.set(name, { owner: "dead", rvn: "r0", fence: 1, leaseMs: ofMs, silentMs, seenAt: null });
  const taken = acquire(ports, "a").then(() => ports.clock.elapsedMs());
  await ports.clock.advance(2 * ofMs);
  expect(await taken).toBe(waitedMs);
});

describe("when the lock store does not answer well", () => {
  test("a take whose reply was lost is read back, and is ours", async () => {
    let lost = 0;
    const ports = withLocks((locks) => ({
      take: async (...call) => {
        await locks.take(...call);
        lost += 1;
        throw new Error("socket hang up");
      },
    }));
    const got = watched(acquire(ports, "a"));
    await ports.clock.advance(lockLimits.lockOutageMs);
    expect(got.value).toMatchObject({ got: "lock", lock: { fence: 1 } });
    expect(lost).toBe(1);
  });

  test("a refused take that the store had already done for us is ours", async () => {
    const ports = withLocks((locks) => ({
      take: async (...call) => {
        await locks.take(...call);
        return null;
      },
    }));
    expect(held(await acquire(ports, "a")).fence).toBe(1);
  });

  test("errors are retried for a bounded time, then it is an outage with the cause", async () => {
    let reads = 0;
    const ports = withLocks(() => ({
      read: () => {
        reads += 1;
        return down();
      },
    }));
    const got = watched(acquire(ports, "a"));
    await ports.clock.advance(lockLimits.lockOutageMs - 1);
    expect(got.value).toBeNull();
    await ports.clock.advance(lockLimits.lockOutageMs);
    expect(got.value).toMatchObject({ got: "outage", error: new Error("down") });
    expect(reads).toBeLessThanOrEqual(lockLimits.lockErrorRetriesMax + 1);
    expect(ports.clock.pending()).toBe(0);
  });

  test("an outage that ends in time is only a delay", async () => {
    let failures = 3;
    const ports = withLocks((locks) => ({ read: (of) => (failures-- > 0 ? down() : locks.read(of)) }));
    const got = watched(acquire(ports, "a"));
    await ports.clock.advance(lockLimits.lockOutageMs);
    expect(got.value).toMatchObject({ got: "lock" });
  });
});

describe("keeping a lock", () => {
  test("the holder beats every third of its lease, so no other takes it over", async () => {
    const ports = world();
    const lock = held(await acquire(ports, "a"));
    const seen = new Set<string>();
    for (let third = 0; third < 30; third += 1) {
      await ports.clock.advance(leaseMs / contractLimits.heartbeatsPerLease);
      seen.add(ports.locks.items.get(name)?.rvn ?? "");
    }
    expect(seen.size).toBe(30);
    expect(lock.lost.aborted).toBe(false);
  });

  test.each<[string, (ports: World) => unknown]>([
    ["another holds it", ({ locks }) => locks.items.set(name, { ...itemOf(locks), owner: "b", fence: 2 })],
    ["its table is wiped", ({ locks }) => locks.items.clear()],
  ])("a renew loses the lock at once when %s", async (_, change) => {
    const ports = world();
    const lock = held(await acquire(ports, "a"));
    change(ports);
    await ports.clock.advance(leaseMs / contractLimits.heartbeatsPerLease);
    expect([lock.lost.aborted, ports.clock.pending()]).toEqual([true, 0]);
  });

  test("a renew that fails is tried again, and is forgiven within the lease", async () => {
    let failures = 2;
    const ports = withLocks((locks) => ({ renew: (...call) => (failures-- > 0 ? down() : locks.renew(...call)) }));
    const lock = held(await acquire(ports, "a"));
    await ports.clock.advance(3 * leaseMs);
    expect(lock.lost.aborted).toBe(false);
  });

  test.each<[string, () => Promise<boolean>]>([
    ["fails", down],
    ["does not answer", () => new Promise(() => {})],
  ])("a renew that %s for a whole lease loses the lock", async (_, renew) => {
    const ports = withLocks(() => ({ renew }));
    const lock = held(await acquire(ports, "a"));
    await ports.clock.advance(leaseMs - 1);
    expect(lock.lost.aborted).toBe(false);
    await ports.clock.advance(1);
    expect(lock.lost.aborted).toBe(true);
  });

  test("a released lock beats no more and is never lost", async () => {
    const ports = world();
    const lock = held(await acquire(ports, "a"));
    await lock.release();
    expect(ports.clock.pending()).toBe(0);
    held(await acquire(ports, "b"));
    await ports.clock.advance(2 * leaseMs);
    expect(lock.lost.aborted).toBe(false);
  });

  test("a release that fails leaves the rest to the lease, without throwing", async () => {
    const ports = withLocks(() => ({ release: down }));
    await expect(held(await acquire(ports, "a")).release()).resolves.toBeUndefined();
    expect(ports.lines.map((line) => line.level)).toContain("warn");
  });
});

describe("a fence behind the one in Postgres", () => {
  test("is raised on the item, and the lock is kept and released under the new one", async () => {
    const ports = world();
    const lock = held(await acquire(ports, "a"));
    expect(await lock.raise(41)).toBe(true);
    expect(lock.fence).toBe(41);
    await ports.clock.advance(3 * leaseMs);
    expect(lock.lost.aborted).toBe(false);
    await lock.release();
    expect(ports.locks.items.get(name)).toMatchObject({ owner: null, fence: 41 });
  });

  test("is not raised on an item that another holds by now", async () => {
    const ports = world();
    const lock = held(await acquire(ports, "a"));
    ports.locks.items.set(name, { owner: "b", rvn: "x", fence: 2, leaseMs, silentMs: 0, seenAt: null });
    expect(await lock.raise(41)).toBe(false);
    expect(ports.locks.items.get(name)).toMatchObject({ owner: "b", fence: 2 });
  });
});
