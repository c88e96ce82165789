import { beforeEach, describe, expect, it } from "vitest";
import type { LockStore } from "../../src/machine/ports.ts";
import { eachTest } from "../support/each-test.ts";

const ada = { owner: "ada", rvn: "a1", leaseMs: 30_000, overRvn: null };
const bob = { owner: "bob", rvn: "b1", leaseMs: 20_000, overRvn: null };

let count = 0;
/** Of the lock of the test that runs. */
let name = "";

/** What every lock store must do. `open` gives an empty one, or at least one in which no name was used before. */
export function lockStoreContract(what: string, open: () => Promise<LockStore>): void {
  describe(`the lock store ${what}`, () => {
    beforeEach(() => {
      name = `lock ${++count}`;
    });
    const store = eachTest(open);
    taking(store);
    holding(store);
  });
}

/** By ada, at her first take. */
const held = { owner: "ada", rvn: "a1", fence: 1, leaseMs: 30_000, silentMs: 0, seenAt: null };

function taking(store: LockStore): void {
  it("knows nothing of a lock that was never taken", async () => {
    expect(await store.read(name)).toBeNull();
  });

  it("gives a free lock to the first who asks, with fence 1", async () => {
    expect(await store.take(name, ada)).toBe(1);
    expect(await store.read(name)).toEqual(held);
  });

  it("refuses a held lock to a second who asks, and changes nothing", async () => {
    await store.take(name, ada);
    expect(await store.take(name, bob)).toBeNull();
    expect(await store.read(name)).toEqual(held);
  });

  it("gives a held lock to one who watched it stand still, with a larger fence", async () => {
    await store.take(name, ada);
    expect(await store.take(name, { ...bob, overRvn: "a1" })).toBe(2);
    expect(await store.read(name)).toMatchObject({ owner: "bob", rvn: "b1", fence: 2 });
  });

  it("refuses a take-over when the holder has moved since", async () => {
    await store.take(name, ada);
    await store.renew(name, "ada", 1, "a2");
    expect(await store.take(name, { ...bob, overRvn: "a1" })).toBeNull();
  });

  it("lets exactly one of many who ask at once have the lock", async () => {
    const owners = Array.from({ length: 12 }, (_, index) => `owner ${index}`);
    const fences = await Promise.all(owners.map((owner) => store.take(name, { ...ada, owner, rvn: owner })));
    expect(fences.filter((fence) => fence !== null)).toEqual([1]);
    expect((await store.read(name))?.owner).toBe(owners[fences.indexOf(1)]);
  });
}

function holding(store: LockStore): void {
  it("accepts a heartbeat of the holder whatever the last one was", async () => {
    await store.take(name, ada);
    expect(await store.renew(name, "ada", 1, "a2")).toBe(true);
    expect(await store.renew(name, "ada", 1, "a2")).toBe(true);
    expect(await store.renew(name, "ada", 1, "a3")).toBe(true);
    expect((await store.read(name))?.rvn).toBe("a3");
  });

  it("refuses a heartbeat of one who lost the lock, also under the same name", async () => {
    await store.take(name, ada);
    await store.take(name, { ...bob, overRvn: "a1" });
    expect(await store.renew(name, "ada", 1, "a2")).toBe(false);
    expect(await store.renew(name, "bob", 1, "b2")).toBe(false);
    expect((await store.read(name))?.rvn).toBe("b1");
  });

  it("keeps the fence of a released lock, and grows it for the next holder", async () => {
    await store.take(name, ada);
    expect(await store.release(name, "ada", 1)).toBe(true);
    expect(await store.read(name)).toMatchObject({ owner: null, fence: 1 });
    expect(await store.take(name, bob)).toBe(2);
  });

  it("says yes to a release that was done before, and no to one that lost the lock", async () => {
    await store.take(name, ada);
    await store.release(name, "ada", 1);
    expect(await store.release(name, "ada", 1)).toBe(true);
    await store.take(name, bob);
    expect(await store.release(name, "ada", 1)).toBe(false);
    expect((await store.read(name))?.owner).toBe("bob");
  });

  it("raises the fence of the holder, never lowers it, and not for others", async () => {
    await store.take(name, ada);
    expect(await store.raise(name, "bob", 9)).toBe(false);
    expect(await store.raise(name, "ada", 9)).toBe(true);
    expect(await store.raise(name, "ada", 9)).toBe(true);
    expect(await store.raise(name, "ada", 5)).toBe(false);
    expect((await store.read(name))?.fence).toBe(9);
    expect(await store.renew(name, "ada", 9, "a2")).toBe(true);
  });

  it("keeps how long a holder was seen silent, and when, until its next heartbeat", async () => {
    const seen = async () => {
      const item = await store.read(name);
      return [item?.silentMs, item?.seenAt];
    };
    await store.take(name, ada);
    await store.observe(name, { rvn: "a1", silentMs: 0, seenAt: 1_000 });
    expect(await seen()).toEqual([0, 1_000]);
    await store.observe(name, { rvn: "a1", silentMs: 4_000, seenAt: 5_000 });
    await store.observe(name, { rvn: "a1", silentMs: 3_000, seenAt: 6_000 });
    expect(await seen()).toEqual([4_000, 5_000]);
    await store.observe(name, { rvn: "a1", silentMs: 4_500, seenAt: null });
    expect(await seen()).toEqual([4_500, null]);
    await store.observe(name, { rvn: "a1", silentMs: 5_000, seenAt: 9_000 });
    await store.renew(name, "ada", 1, "a2");
    await store.observe(name, { rvn: "a1", silentMs: 9_000, seenAt: 10_000 });
    expect(await seen()).toEqual([0, null]);
    await store.take(name, { ...bob, overRvn: "a2" });
    expect(await seen()).toEqual([0, null]);
  });

  it("knows no silence of a lock that was never taken", async () => {
    await store.observe(name, { rvn: "a1", silentMs: 4_000, seenAt: null });
    expect(await store.read(name)).toBeNull();
  });

  it("keeps locks of different names apart", async () => {
    await store.take(name, ada);
    expect(await store.take(`${name} b`, bob)).toBe(1);
  });
}
