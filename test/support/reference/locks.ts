import type { Fence } from "../../../src/machine/fence.ts";
import type { Tables } from "./tables.ts";

/** @returns the token that was in force before. */
export function installFence(t: Tables, fence: Fence): number {
  const before = t.fences.get(fence.name) ?? 0;
  t.fences.set(fence.name, Math.max(before, fence.token));
  return before;
}

export function acquire(
  t: Tables,
  name: string,
  owner: string,
  leaseMs: number,
): { fence: number } | { heldBy: string } {
  const row = t.fallbackLocks.get(name);
  if (row !== undefined && row.owner !== null && row.owner !== owner && row.leaseUntil > t.now())
    return { heldBy: row.owner };
  const fence = Math.max(row?.fence ?? 0, t.fences.get(name) ?? 0) + 1;
  t.fallbackLocks.set(name, { name, owner, fence, leaseUntil: t.now() + leaseMs });
  return { fence };
}

export function renew(t: Tables, name: string, owner: string, fence: number, leaseMs: number): boolean {
  const row = t.fallbackLocks.get(name);
  if (row === undefined || row.owner !== owner || row.fence !== fence) return false;
  t.fallbackLocks.set(name, { ...row, leaseUntil: t.now() + leaseMs });
  return true;
}

export function release(t: Tables, name: string, owner: string, fence: number): void {
  const row = t.fallbackLocks.get(name);
  if (row !== undefined && row.owner === owner && row.fence === fence)
    t.fallbackLocks.set(name, { ...row, owner: null });
}
