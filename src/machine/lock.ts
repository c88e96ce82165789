import { contractLimits } from "./contract-limits.ts";
import { secondMs } from "./units.ts";
import type { Instant } from "./job.ts";
import { orWarn } from "./or-warn.ts";
import type { LockItem, Ports } from "./ports.ts";

/**
 * A named lock with a fencing token, on conditional writes of single items.
 * A takeover needs no synchronized clocks: a process that sees the item's `rvn` unchanged for a whole lease, on its own
 * monotonic timer, may take it (the idea of the DynamoDB lock client).
 * Two holders may overlap in time; the token keeps their fenced writes apart.
 */
export interface HeldLock {
  readonly name: string;
  readonly owner: string;
  /** The token. Only `raise` changes it. */
  readonly fence: number;
  /** Aborts when the lock was lost, or not renewed for a whole lease. Stop writing then. */
  readonly lost: AbortSignal;
  /** Raises the item's fence and keeps the lock under it. @returns false when another owner has the item. */
  raise(to: number): Promise<boolean>;
  /** Stops the heartbeat and releases the lock. Never throws: a lease that is not released expires. */
  release(): Promise<void>;
}

export type Acquired =
  | { readonly got: "lock"; readonly lock: HeldLock }
  | { readonly got: "held"; readonly by: string }
  | { readonly got: "outage"; readonly error: unknown };

type LockPorts = Pick<Ports, "locks" | "clock" | "random" | "log"> & { readonly store: Pick<Ports["store"], "now"> };

export interface AcquireOptions {
  readonly name: string;
  /** Unique to this acquisition: after an error it proves that this process took the item. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly signal?: AbortSignal;
}

/** The silence of a holder: since when its `rvn` is known to be unchanged, on this process's own timer. */
interface Silence {
  readonly rvn: string;
  readonly sinceMs: number;
  /** The database's clock when this process's timer stood at 0; null when the database did not answer. */
  readonly startedAt: Instant | null;
  readonly isLogged: boolean;
}

/**
 * Waits at most one lease of a silent holder; answers `held` as soon as the holder shows a sign of life.
 * What it saw is kept in the item, so that the next task goes on from there when this one dies while it waits. Each adds its own
 * elapsed time to what it found, and the time since that was written by the database's clock, up to half a lease: no clocks of
 * two hosts are compared.
 */
export async function acquireLock(ports: LockPorts, options: AcquireOptions): Promise<Acquired> {
  const { lockOutageMs: outageMs, lockErrorRetriesMax } = lockLimits;
  let failingSinceMs: number | null = null;
  let silence: Silence | null = null;
  for (;;) {
    if (options.signal?.aborted) return { got: "held", by: "(stopped while waiting)" };
    try {
      const step = await acquireOnce(ports, options, silence);
      if (step.got !== "watch") return step;
      failingSinceMs = null;
      silence = step.silence;
      await ports.clock.sleep(step.waitMs, options.signal);
    } catch (error) {
      failingSinceMs ??= ports.clock.elapsedMs();
      if (ports.clock.elapsedMs() - failingSinceMs >= outageMs) return { got: "outage", error };
      ports.log.warn("lock store failed; reading back", { lock: options.name, error });
      await ports.clock.sleep(outageMs / lockErrorRetriesMax, options.signal);
    }
  }
}

type Step = Acquired | { readonly got: "watch"; readonly silence: Silence; readonly waitMs: number };

async function acquireOnce(ports: LockPorts, options: AcquireOptions, before: Silence | null): Promise<Step> {
  const item = await ports.locks.read(options.name);
  if (item?.owner === options.owner) return hold(ports, options, item.fence);
  if (item === null || item.owner === null) return take(ports, options, null);
  if (before !== null && before.rvn !== item.rvn) return { got: "held", by: item.owner };
  const { startedAt, sinceMs } = before === null ? await firstLook(ports, item) : before;
  const nowMs = ports.clock.elapsedMs();
  // Another watcher may have seen more since.
  const seen = { startedAt, sinceMs: Math.min(sinceMs, nowMs - item.silentMs) };
  if (nowMs - seen.sinceMs >= item.leaseMs) return take(ports, options, item.rvn);
  const isLogged = before?.isLogged === true;
  return watch(ports, { ...item, owner: item.owner, name: options.name }, { ...seen, isLogged });
}

/** What earlier tasks saw, and the time since then: its `rvn` is the same, so the holder was silent in between too. */
async function firstLook(
  { store, clock, log }: LockPorts,
  { silentMs, seenAt, leaseMs }: LockItem,
): Promise<Pick<Silence, "sinceMs" | "startedAt">> {
  const warning = "the time since the last look at the lock is not known; it does not count";
  const now = (await orWarn(log, () => store.now(), warning)) ?? null;
  const nowMs = clock.elapsedMs();
  const gapMs = now === null || seenAt === null ? 0 : Math.max(0, now - seenAt);
  const countedMs = Math.min(gapMs, leaseMs * lockLimits.lockGapShareMax);
  return { sinceMs: nowMs - silentMs - countedMs, startedAt: now === null ? null : now - nowMs };
}

async function watch(
  ports: LockPorts,
  { name, owner, rvn, leaseMs }: LockItem & { readonly name: string; readonly owner: string },
  { sinceMs, startedAt, isLogged }: Omit<Silence, "rvn">,
): Promise<Step> {
  const nowMs = ports.clock.elapsedMs();
  const silentMs = nowMs - sinceMs;
  await ports.locks.observe(name, { rvn, silentMs, seenAt: startedAt === null ? null : startedAt + nowMs });
  const isSilent = silentMs >= leaseMs / lockLimits.lockLooksPerLease;
  if (isSilent && !isLogged) {
    const text = `waiting for ${owner}, silent for ${Math.floor(silentMs / secondMs)} s`;
    ports.log.info(text, { lock: name, holder: owner, silentMs, leaseMs });
  }
  const leftMs = leaseMs - (ports.clock.elapsedMs() - sinceMs);
  return {
    got: "watch",
    silence: { rvn, sinceMs, startedAt, isLogged: isSilent },
    waitMs: Math.max(1, Math.min(leftMs, leaseMs / lockLimits.lockLooksPerLease)),
  };
}

async function take(ports: LockPorts, options: AcquireOptions, overRvn: string | null): Promise<Step> {
  const fence = await ports.locks.take(options.name, {
    owner: options.owner,
    rvn: ports.random.id(),
    leaseMs: options.leaseMs,
    overRvn,
  });
  if (fence !== null) return hold(ports, options, fence);
  const winner = await ports.locks.read(options.name);
  if (winner?.owner === options.owner) return hold(ports, options, winner.fence);
  return { got: "held", by: winner?.owner ?? "(just released)" };
}

function hold(ports: LockPorts, options: AcquireOptions, fence: number): Acquired {
  return { got: "lock", lock: keep(ports, options, storeKeeper(ports, options, fence)) };
}

/** Renews and releases a held lock: in the lock store, or in the fallback lock's row. */
export interface Keeper {
  fence(): number;
  renew(): Promise<boolean>;
  raise(to: number): Promise<boolean>;
  release(): Promise<void>;
}

/** Every write to the item is conditioned on its fence, so after a raise it is renewed and released under the new one. */
function storeKeeper({ locks, random }: LockPorts, { name, owner }: AcquireOptions, taken: number): Keeper {
  let fence = taken;
  return {
    fence: () => fence,
    renew: () => locks.renew(name, owner, fence, random.id()),
    async raise(to) {
      const raised = await locks.raise(name, owner, to);
      if (raised) fence = to;
      return raised;
    },
    async release() {
      await locks.release(name, owner, fence);
    },
  };
}

/** Renews every third of the lease until released. `lost` aborts on a refusal, or after a lease without a renewal. */
export function keep(
  ports: Pick<Ports, "clock" | "log">,
  held: { name: string; owner: string; leaseMs: number },
  keeper: Keeper,
): HeldLock {
  const lost = new AbortController();
  let keptAtMs = ports.clock.elapsedMs();
  let cancel = (): void => {};
  let released = false;
  const schedule = (ms: number): void => {
    if (!released && !lost.signal.aborted) cancel = ports.clock.after(ms, () => void renew());
  };
  const thirdMs = held.leaseMs / contractLimits.heartbeatsPerLease;
  const notKept = (): void =>
    lost.abort(new Error(`lock "${held.name}" could not be kept for its lease of ${held.leaseMs} ms`));
  const renew = async (): Promise<void> => {
    const startedMs = ports.clock.elapsedMs();
    // A call that never answers must not keep the lock.
    cancel = ports.clock.after(Math.max(thirdMs, keptAtMs + held.leaseMs - startedMs), notKept);
    try {
      if (!(await keeper.renew()) && !released) lost.abort(new Error(`lock "${held.name}" was taken over`));
      keptAtMs = startedMs;
    } catch (error) {
      ports.log.warn("lock heartbeat failed", { lock: held.name, error });
    }
    cancel();
    if (ports.clock.elapsedMs() - keptAtMs >= held.leaseMs) notKept();
    schedule(thirdMs);
  };
  schedule(thirdMs);
  return {
    name: held.name,
    owner: held.owner,
    get fence() {
      return keeper.fence();
    },
    lost: lost.signal,
    raise: (to) => keeper.raise(to),
    async release() {
      released = true;
      cancel();
      const warning = "lock was not released; its lease ends by itself";
      await orWarn(ports.log, () => keeper.release(), warning, { lock: held.name });
    },
  };
}

export const lockLimits = {
  lockLeaseMs: 30_000,
  lockOutageMs: 10_000,
  lockErrorRetriesMax: 10,
  lockLooksPerLease: 10,
  /**
   * At most so much of a lease counts for the time between two tasks, which only the database's clock knows. When that steps, the
   * holder was silent for the rest of its lease all the same, and that is longer than between two of its heartbeats.
   */
  lockGapShareMax: 1 / 2,
  fenceRaisesMax: 3,
} as const;
