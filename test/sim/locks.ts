import type { LockStore } from "../../src/machine/ports.ts";
import type { MemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import type { VirtualTime } from "../support/virtual-clock.ts";
import type { SimProcess } from "./process.ts";
import type { Record } from "./record.ts";
import type { Wire } from "./wire.ts";

export interface LockLine {
  readonly base: LockStore;
  readonly wire: Wire;
  readonly record: Record;
  readonly time: VirtualTime;
}

/** The lock store as one process reaches it; what it did is written down in its own order. */
export function locksFor(process: SimProcess, line: LockLine): LockStore {
  const { base, record, time } = line;
  const call = <T>(name: string, serve: () => Promise<T>): Promise<T> =>
    line.wire.call(process, `locks.${name}`, serve);
  return {
    read: (name) => call("read", () => base.read(name)),
    take: (name, next) =>
      call("take", async () => {
        const fence = await base.take(name, next);
        const { owner, leaseMs } = next;
        if (fence !== null) record.locks.push({ is: "taken", name, owner, fence, leaseMs, at: time.nowMs });
        return fence;
      }),
    renew: (name, owner, fence, rvn) =>
      call("renew", async () => {
        const isKept = await base.renew(name, owner, fence, rvn);
        if (isKept) record.locks.push({ is: "kept", name, owner, fence, at: time.nowMs });
        return isKept;
      }),
    release: (name, owner, fence) =>
      call("release", async () => {
        const isReleased = await base.release(name, owner, fence);
        if (isReleased) record.locks.push({ is: "released", name, owner, fence, at: time.nowMs });
        return isReleased;
      }),
    raise: (name, owner, to) => call("raise", () => base.raise(name, owner, to)),
    observe: (name, seen) => call("observe", () => base.observe(name, seen)),
  };
}

/** The table is wiped, or an item is put back as it was long ago. */
export function damageLocks(base: MemoryLockStore, record: Record, how: "wiped" | "restored", atMs: number): void {
  for (const [name, item] of base.items) {
    record.locks.push({ is: "damaged", name, at: atMs });
    if (how === "wiped") base.items.delete(name);
    else base.items.set(name, { ...item, owner: null, fence: Math.max(1, Math.floor(item.fence / 2)) });
  }
}
