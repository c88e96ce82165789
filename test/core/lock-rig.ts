import { acquireLock, type Acquired, type HeldLock } from "../../src/machine/lock.ts";
import type { World } from "./world.ts";

export const name = "nightly";
export const leaseMs = 30_000;

export const acquire = (ports: World, owner: string, over: { signal?: AbortSignal } = {}) =>
  acquireLock(ports, { name, owner, leaseMs, ...over });

export function held(got: Acquired): HeldLock {
  if (got.got !== "lock") throw new Error(`the lock was not taken: ${got.got}`);
  return got.lock;
}

/** Watches a promise without waiting for it. */
export function watched<T>(promise: Promise<T>): { value: T | null } {
  const seen: { value: T | null } = { value: null };
  void promise.then((value) => (seen.value = value));
  return seen;
}

/** An owner that died: it holds the item and never beats again. */
export async function diedHolding(ports: World): Promise<number> {
  const fence = await ports.locks.take(name, { owner: "dead", rvn: "r0", leaseMs, overRvn: null });
  if (fence === null) throw new Error("the lock was not free");
  return fence;
}
