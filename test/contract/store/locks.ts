import { expect, test } from "vitest";
import { FenceLost } from "../../../src/machine/fence.ts";
import { minute, contract, type At } from "./fixture.ts";

export const locksContract = contract({ "the fence": fence, "the lock row that stands in": fallbackLock });

const token = (n: number) => ({ name: "pass", token: n });
const fenceOf = (answer: { fence: number } | { heldBy: string }): number => ("fence" in answer ? answer.fence : -1);

function fence({ store }: At): void {
  test("only grows: an older token is refused and the newer one stays", async () => {
    expect(await store.installFence(token(5))).toBe(0);
    expect(await store.installFence(token(4))).toBe(5);
    expect(await store.relay({ limit: 1, fence: token(5) })).toEqual([]);
    await expect(store.relay({ limit: 1, fence: token(4) })).rejects.toThrow(FenceLost);
  });

  test("a token that is in force belongs to one holder: a second holder needs a larger one", async () => {
    await store.installFence(token(5));
    expect(await store.installFence(token(5))).toBe(5);
    expect(await store.installFence(token(6))).toBe(5);
  });

  test("a token that was never installed is not valid", async () => {
    await expect(store.relay({ limit: 1, fence: token(1) })).rejects.toThrow(FenceLost);
    await store.installFence(token(1));
    await expect(store.relay({ limit: 1, fence: token(2) })).rejects.toThrow(FenceLost);
  });

  test("each name has its own token", async () => {
    await store.installFence(token(5));
    expect(await store.installFence({ name: "other", token: 1 })).toBe(0);
    expect(await store.relay({ limit: 1, fence: token(5) })).toEqual([]);
  });

  test("every fenced call checks the token", async () => {
    await store.installFence(token(2));
    const stale = { fence: token(1) };
    const calls = [
      store.insert([], { ...stale }),
      store.relay({ limit: 1, ...stale }),
      store.reopen({ olderThanMs: 0, limit: 1, messagesMax: 1_000, ...stale }),
      store.wake({ slotKeys: "all", limit: 1, ...stale }),
      store.rescue({ limit: 1, interruptionsMax: 20, ...stale }),
      store.prune({ limit: 1, ...stale }),
      store.plan([], { ...stale }),
    ];
    const results = await Promise.allSettled(calls);
    const names = results.map((r) => (r.status === "rejected" && r.reason instanceof FenceLost ? "lost" : r.status));
    expect(names).toEqual(calls.map(() => "lost"));
  });
}

function fallbackLock({ store, advance }: At): void {
  test("one owner takes it and the next gets the holder's name", async () => {
    expect(fenceOf(await store.takeFallback("pass", "a", minute))).toBeGreaterThan(0);
    expect(await store.takeFallback("pass", "b", minute)).toEqual({ heldBy: "a" });
  });

  test("its fence is above every token that was installed, and grows with each holder", async () => {
    await store.installFence({ name: "pass", token: 41 });
    const first = fenceOf(await store.takeFallback("pass", "a", minute));
    expect(first).toBeGreaterThan(41);
    await store.releaseFallback("pass", "a", first);
    expect(fenceOf(await store.takeFallback("pass", "b", minute))).toBeGreaterThan(first);
  });

  test("a lease that passed may be taken over, and its old holder can neither renew nor release", async () => {
    const old = fenceOf(await store.takeFallback("pass", "a", minute));
    await advance(2 * minute);
    const taken = fenceOf(await store.takeFallback("pass", "b", minute));
    expect(taken).toBeGreaterThan(old);
    expect(await store.renewFallback("pass", "a", old, minute)).toBe(false);
    await store.releaseFallback("pass", "a", old);
    expect(await store.takeFallback("pass", "c", minute)).toEqual({ heldBy: "b" });
  });

  test("a renew keeps it", async () => {
    const held = fenceOf(await store.takeFallback("pass", "a", minute));
    await advance(45_000);
    expect(await store.renewFallback("pass", "a", held, minute)).toBe(true);
    await advance(45_000);
    expect(await store.takeFallback("pass", "b", minute)).toEqual({ heldBy: "a" });
  });

  test("names are independent", async () => {
    await store.takeFallback("pass", "a", minute);
    expect(fenceOf(await store.takeFallback("other", "b", minute))).toBeGreaterThan(0);
  });
}
