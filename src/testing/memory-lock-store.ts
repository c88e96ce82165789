import type { LockItem, LockStore } from "../machine/ports.ts";

export interface MemoryLockStore extends LockStore {
  /** The items as they are, for faults that a test plants: wipe them, or put an old one back. */
  readonly items: Map<string, LockItem>;
}

/** The reference implementation of the lock store: one conditional write at a time, as DynamoDB does it per item. */
export function createMemoryLockStore(): MemoryLockStore {
  const items = new Map<string, LockItem>();

  const change = (
    name: string,
    owner: string,
    fence: number | null,
    next: (item: LockItem) => LockItem | null,
  ): boolean => {
    const item = items.get(name);
    if (item === undefined || item.owner !== owner || (fence !== null && item.fence !== fence)) return false;
    const changed = next(item);
    if (changed !== null) items.set(name, changed);
    return changed !== null;
  };

  return {
    items,
    read: async (name) => items.get(name) ?? null,
    async take(name, { owner, rvn, leaseMs, overRvn }) {
      const item = items.get(name);
      const free = item === undefined || item.owner === null || (overRvn !== null && item.rvn === overRvn);
      if (!free) return null;
      const fence = (item?.fence ?? 0) + 1;
      items.set(name, { owner, rvn, fence, leaseMs, silentMs: 0, seenAt: null });
      return fence;
    },
    renew: async (name, owner, fence, rvn) =>
      change(name, owner, fence, (item) => ({ ...item, rvn, silentMs: 0, seenAt: null })),
    async release(name, owner, fence) {
      const item = items.get(name);
      const released = item?.owner === null && item.fence === fence;
      return released || change(name, owner, fence, (held) => ({ ...held, owner: null }));
    },
    raise: async (name, owner, to) =>
      change(name, owner, null, (item) => (item.fence <= to ? { ...item, fence: to } : null)),
    async observe(name, { rvn, silentMs, seenAt }) {
      const item = items.get(name);
      if (item?.rvn === rvn && item.silentMs <= silentMs) items.set(name, { ...item, silentMs, seenAt });
    },
  };
}
