import type { Fence } from "../../../src/machine/fence.ts";
import type { LockItem, LockStore } from "../../../src/machine/ports.ts";
import type { Store } from "../../../src/machine/store.ts";
import type { MemoryLockStore } from "../../../src/testing/memory-lock-store.ts";
import type { ReferenceStore } from "../../support/reference-store.ts";
import type { SimProcess } from "../process.ts";
import type { World } from "../world.ts";
import { inStore, place, type Mutant } from "./mutant.ts";

/** Bugs in what keeps two scheduler tasks apart, and in what a tick writes. */
export const schedulerMutants: readonly Mutant[] = [
  {
    name: "no-fence",
    bug: "the writes of a pass do not check the token",
    planted: inStore(withoutFence),
  },
  {
    name: "wall-clock-lease",
    bug: "a lease in the lock table is judged by the host's wall clock",
    planted: { locks: wallClockLocks },
  },
  {
    name: "lock-deleted-on-release",
    bug: "release deletes the item, so that its fence starts again at 1 (and a smaller token may be installed)",
    planted: {
      ...inStore((base) => ({ installFence: installAnyToken(base) })),
      locks: (base) => ({
        ...base,
        release: async (name, owner, fence) => {
          const item = base.items.get(name);
          return item?.owner === owner && item.fence === fence && base.items.delete(name);
        },
      }),
    },
  },
  {
    name: "equal-token-accepted",
    bug: "a token that is in force already may be installed once more, by another holder",
    planted: inStore((base) => ({
      installFence: async (fence) => {
        const before = await base.installFence(fence);
        return before === fence.token ? before - 1 : before;
      },
    })),
  },
  {
    name: "occurrence-without-version-check",
    bug: "a plan is written without looking whether the schedule still has the version it was made from",
    planted: inStore((base) => ({
      plan: (plans, options) => {
        const current = plans.map(({ decidedFrom: _from, ...plan }) => {
          return { ...plan, version: base.tables.schedules.get(plan.scheduleId)?.version ?? plan.version };
        });
        return base.plan(current, options);
      },
    })),
  },
  {
    name: "chain-passes-what-is-open",
    bug: "a tick decides the times of a chain whose leader has ended, and passes those that are still open",
    planted: inStore((base) => ({
      chains: async (options) => {
        const { now, chains } = await base.chains(options);
        const ended = chains.map((page) => ({ ...page, times: page.times.filter(({ result }) => result !== "open") }));
        return { now, chains: ended };
      },
    })),
  },
];

function withoutFence(base: ReferenceStore): Partial<Store> {
  const bare = <O extends { readonly fence?: Fence | undefined }>({ fence: _fence, ...options }: O): Omit<O, "fence"> =>
    options;
  return {
    relay: (o) => base.relay(bare(o)),
    reopen: (o) => base.reopen(bare(o)),
    requeueLost: (o) => base.requeueLost(bare(o)),
    wake: (o) => base.wake(bare(o)),
    rescue: (o) => base.rescue(bare(o)),
    prune: (o) => base.prune(bare(o)),
    plan: (plans, o = {}) => base.plan(plans, bare(o)),
  };
}

function installAnyToken(base: ReferenceStore): Store["installFence"] {
  return async (fence) => {
    place(base, (t) => t.fences.set(fence.name, fence.token));
    return 0;
  };
}

/** When each lease ends, as its holder's host wrote it; judged by the reader's host. */
const ends = new WeakMap<MemoryLockStore, Map<string, number>>();

function wallClockLocks(base: MemoryLockStore, world: World, process: SimProcess): LockStore {
  const until = ends.get(base) ?? new Map<string, number>();
  ends.set(base, until);
  const note = (name: string, leaseMs: number): void => void until.set(name, world.hostNow(process.name) + leaseMs);
  const freed = (name: string, item: LockItem | null): LockItem | null =>
    item !== null && world.hostNow(process.name) > (until.get(name) ?? 0) ? { ...item, owner: null } : item;
  return {
    ...base,
    read: async (name) => freed(name, await base.read(name)),
    take: async (name, next) => {
      const item = freed(name, base.items.get(name) ?? null);
      if (item !== null) base.items.set(name, item);
      const fence = await base.take(name, next);
      if (fence !== null) note(name, next.leaseMs);
      return fence;
    },
    renew: async (name, owner, fence, rvn) => {
      const isKept = await base.renew(name, owner, fence, rvn);
      if (isKept) note(name, base.items.get(name)?.leaseMs ?? 0);
      return isKept;
    },
  };
}
