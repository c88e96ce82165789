import { acquireLock, type HeldLock, keep, lockLimits } from "../machine/lock.ts";
import type { Fence } from "../machine/fence.ts";
import type { Ports } from "../machine/ports.ts";

export type Acquisition = { lock: HeldLock; fence: Fence } | { outcome: "held" | "lock-outage"; heldBy: string | null };

export interface AcquisitionOptions {
  readonly lockName: string;
  /** The kind of job that the lock is taken for; left out for the scheduler's own. */
  readonly job?: string | undefined;
  /** Names the task; made unique per acquisition. */
  readonly owner: string;
  readonly onLockOutage: "postgres" | "skip";
  readonly signal: AbortSignal;
  readonly lockLeaseMs?: number | undefined;
}

/** Takes a named lock and installs its fence, or names its holder; the caller releases it. */
export async function acquire(ports: Ports, options: AcquisitionOptions): Promise<Acquisition> {
  const leaseMs = options.lockLeaseMs ?? lockLimits.lockLeaseMs;
  const owner = `${options.owner}:${ports.random.id()}`;
  const got = await acquireLock(ports, { name: options.lockName, owner, leaseMs, signal: options.signal });
  if (got.got === "held") return heldBy(ports, options, got.by);
  const fallback = { ...options, owner, leaseMs };
  if (got.got === "outage") return takeFallbackLock(ports, fallback, got.error);
  ports.metrics.add("scheduler.lock.acquired", 1, "Count", dimensionsOf(options));
  await ports.crashPoint?.("lock.acquired");
  const acquired = await orRelease(got.lock, () => install(ports, options, got.lock));
  return "outage" in acquired ? takeFallbackLock(ports, fallback, acquired.outage) : acquired;
}

/** Releases the lock after a failed install, so that it blocks neither the next task nor the exit of this process. */
async function orRelease<T extends object>(lock: HeldLock, install: () => Promise<T>): Promise<T> {
  try {
    const acquired = await install();
    if (!("lock" in acquired)) await lock.release();
    return acquired;
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * A token not above the one in Postgres means that the lock table was wiped, restored, or away while the fallback lock was
 * used: raise the item above it and install that. Losing this race only means that another holder is newer.
 * @returns `outage`, the error of a lock store that does not raise it.
 */
async function install(
  ports: Ports,
  options: AcquisitionOptions,
  lock: HeldLock,
): Promise<Acquisition | { readonly outage: unknown }> {
  let token = lock.fence;
  let outage: { readonly outage: unknown } | null = null;
  for (let round = 0; round < lockLimits.fenceRaisesMax; round += 1) {
    const before = await ports.store.installFence({ name: lock.name, token });
    if (before < token) return { lock, fence: { name: lock.name, token } };
    ports.log.warn("the lock's fence is behind Postgres: raising it", { lock: lock.name, token, inForce: before });
    const raised = await lock.raise(before + 1).catch((error: unknown) => ({ outage: error }));
    if (raised === false) return heldBy(ports, options, "a newer holder");
    outage = raised === true ? null : raised;
    token = lock.fence;
  }
  return outage ?? heldBy(ports, options, "a newer holder");
}

async function takeFallbackLock(
  ports: Ports,
  options: AcquisitionOptions & { readonly leaseMs: number },
  error: unknown,
): Promise<Acquisition> {
  ports.metrics.add("scheduler.lock.outage", 1);
  if (options.onLockOutage === "skip") {
    ports.metrics.add("scheduler.lock.skipped", 1);
    ports.log.error("lock store is away; skipping, the next pass catches up", { error });
    return { outcome: "lock-outage", heldBy: null };
  }
  const { owner, leaseMs } = options;
  ports.log.warn("lock store is away; taking the fallback lock in Postgres", { error });
  const got = await ports.store.takeFallback(options.lockName, owner, leaseMs);
  if ("heldBy" in got) return heldBy(ports, options, got.heldBy);
  const lock = keep(
    ports,
    { name: options.lockName, owner, leaseMs },
    {
      fence: () => got.fence,
      raise: async () => false,
      renew: () => ports.store.renewFallback(options.lockName, owner, got.fence, leaseMs),
      release: () => ports.store.releaseFallback(options.lockName, owner, got.fence),
    },
  );
  return orRelease(lock, async () => {
    const before = await ports.store.installFence({ name: options.lockName, token: got.fence });
    if (before >= got.fence) return heldBy(ports, options, "a newer holder");
    return { lock, fence: { name: options.lockName, token: got.fence } };
  });
}

const dimensionsOf = ({ job }: Pick<AcquisitionOptions, "job">): Record<string, string> =>
  job === undefined ? {} : { job };

function heldBy(ports: Ports, options: Pick<AcquisitionOptions, "job">, by: string): Acquisition {
  ports.metrics.add("scheduler.lock.failed", 1, "Count", dimensionsOf(options));
  return { outcome: "held", heldBy: by };
}
