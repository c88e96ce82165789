import type { Registry } from "../define/definition.ts";
import { limits } from "../limits.ts";
import { acquireLock, keep, type HeldLock } from "../lock/lock.ts";
import { FenceLost, type Fence, type Ports } from "../ports/ports.ts";
import { prune } from "./prune.ts";
import { relay, resendOpen, wakeHeld } from "../delivery/relay.ts";
import { saveObservations, requeueLost, earlierObservations, type QueueObservations } from "../delivery/requeue.ts";
import { rescue } from "../delivery/rescue.ts";
import { resolveRuns } from "../delivery/resolve.ts";
import { finishCancels } from "../admin/run-control.ts";
import { tick } from "./tick.ts";

export interface PassOptions {
  /** Names this scheduler task; made unique per acquisition. */
  readonly owner: string;
  readonly stage: string;
  /** Milliseconds after which no new pass starts; whoever gets the lock makes one at least. */
  readonly untilMs: number;
  readonly onLockOutage: "postgres" | "skip";
  readonly dispatchWindowMs: number;
  readonly signal: AbortSignal;
  readonly lockLeaseMs?: number;
}

export interface PassReport {
  readonly outcome: "done" | "held" | "fence-lost" | "lock-outage";
  readonly heldBy: string | null;
  readonly passes: number;
  readonly counts: Readonly<Record<string, number>>;
}

export const schedulerLock = "belfry:scheduler";

/** One scheduler task: takes the lock once, installs its fence, repeats passes until its time is over, releases. */
export async function runPasses(ports: Ports, registry: Registry, options: PassOptions): Promise<PassReport> {
  const startedMs = ports.clock.elapsedMs();
  const got = await acquire(ports, { ...options, lockName: schedulerLock });
  if (!("lock" in got)) return report(ports, got.outcome, got.heldBy, 0, {});
  const { lock, fence } = got;
  await ports.crashPoint("fence.installed");
  const signal = AbortSignal.any([options.signal, lock.lost]);
  const totals: Record<string, number> = {};
  const sights: QueueObservations = await earlierObservations(ports);
  let passes = 0;
  let outcome: PassReport["outcome"] = "done";
  try {
    // One pass in any case: waiting for the lock, or for a lock store that is away, may have used the time up.
    while (!signal.aborted && (passes === 0 || ports.clock.elapsedMs() - startedMs < options.untilMs)) {
      add(totals, await pass(ports, registry, { ...options, fence, signal, sights }));
      passes += 1;
      await ports.clock.sleep(limits.passIntervalMs, signal);
    }
    if (lock.lost.aborted) outcome = "fence-lost";
    else await saveObservations(ports, sights);
  } catch (error) {
    if (!(error instanceof FenceLost)) throw error;
    ports.log.warn("another scheduler holds the lock now; stopping", { fence: fence.token });
    outcome = "fence-lost";
  } finally {
    await ports.crashPoint("lock.beforeRelease");
    await lock.release();
  }
  ports.metrics.add("scheduler.execution.time", ports.clock.elapsedMs() - startedMs, "Milliseconds");
  return report(ports, outcome, null, passes, totals);
}

/** One pass without a lock of its own: every step is bounded, and a step that fails does not stop the others. */
export async function pass(
  ports: Ports,
  registry: Registry,
  options: { stage: string; dispatchWindowMs: number; fence?: Fence; signal: AbortSignal; sights?: QueueObservations },
): Promise<Readonly<Record<string, number>>> {
  const { dispatchWindowMs, stage, signal } = options;
  const fenced = options.fence === undefined ? {} : { fence: options.fence };
  const steps: readonly (readonly [string, () => Promise<Record<string, number>>])[] = [
    ["tick", () => tick(ports, registry, { stage, dispatchWindowMs, signal, ...fenced })],
    ["ahead", () => decideAhead(ports, fenced)],
    ["relay", () => relay(ports, { dispatchWindowMs, signal, ...fenced })],
    ["reopen", () => resendOpen(ports, { rounds: limits.relayRoundsMax, signal, ...fenced })],
    [
      "rescue",
      () => rescue(ports, registry, { limit: limits.rescueRowsMax, rounds: limits.rescueRoundsMax, signal, ...fenced }),
    ],
    [
      "resolve",
      () =>
        resolveRuns(ports, { runs: "all", rounds: limits.passResolveRoundsMax, dispatchWindowMs, signal, ...fenced }),
    ],
    ["cancel", () => finishCancels(ports, registry, { dispatchWindowMs, signal })],
    ["requeue", () => requeueLost(ports, registry, options.sights ?? new Map(), fenced)],
    ["wake", () => wakeHeld(ports, { slotKeys: "all", signal, ...fenced })],
    ["prune", () => prune(ports, fenced)],
  ];
  const counts: Record<string, number> = {};
  for (const [name, step] of steps) {
    if (signal.aborted) break;
    add(counts, await isolated(ports, name, step));
  }
  return counts;
}

async function decideAhead({ store }: Ports, fenced: { fence?: Fence }): Promise<Record<string, number>> {
  const { withdrawn } = await store.decidePrematerialized({ limit: limits.aheadRunsMax, ...fenced });
  return { "runs.withdrawn": withdrawn };
}

async function isolated(
  ports: Ports,
  name: string,
  step: () => Promise<Record<string, number>>,
): Promise<Record<string, number>> {
  try {
    return await step();
  } catch (error) {
    if (error instanceof FenceLost) throw error;
    ports.log.error("a step of the pass failed; the next pass tries again", { step: name, error });
    ports.metrics.add("scheduler.step.failed", 1);
    return { [`${name}.failed`]: 1 };
  }
}

export type Acquisition = { lock: HeldLock; fence: Fence } | { outcome: "held" | "lock-outage"; heldBy: string | null };

type AcquireOptions = Pick<PassOptions, "owner" | "onLockOutage" | "signal" | "lockLeaseMs"> & {
  readonly lockName: string;
  /** The kind of job that the lock is taken for; left out for the scheduler's own. */
  readonly job?: string;
};

/** Takes a named lock and installs its fence, or says who has it; the caller releases it. */
export async function acquire(ports: Ports, options: AcquireOptions): Promise<Acquisition> {
  const leaseMs = options.lockLeaseMs ?? limits.lockLeaseMs;
  const owner = `${options.owner}:${ports.random.id()}`;
  const got = await acquireLock(ports, { name: options.lockName, owner, leaseMs, signal: options.signal });
  if (got.got === "held") return heldBy(ports, options, got.by);
  if (got.got === "outage") return standIn(ports, options, owner, leaseMs, got.error);
  ports.metrics.add("scheduler.lock.acquired", 1, "Count", dimensionsOf(options));
  await ports.crashPoint("lock.acquired");
  return orRelease(got.lock, () => install(ports, options, got.lock));
}

/** A lock that led to no passes must not keep the next task waiting, nor this process alive by its heartbeat. */
async function orRelease(lock: HeldLock, install: () => Promise<Acquisition>): Promise<Acquisition> {
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
 * A token that is not above the one in Postgres means a lock table that was wiped, restored, or away while Postgres
 * stood in: raise the item above it and install that. Losing this race only means that another holder is newer.
 */
async function install(ports: Ports, options: AcquireOptions, lock: HeldLock): Promise<Acquisition> {
  let token = lock.fence;
  for (let round = 0; round < limits.fenceRaisesMax; round += 1) {
    const before = await ports.store.installFence({ name: lock.name, token });
    if (before < token) return { lock, fence: { name: lock.name, token } };
    ports.log.warn("the lock's fence is behind Postgres: raising it", { lock: lock.name, token, inForce: before });
    token = before + 1;
    if (!(await lock.raise(token))) break;
  }
  return heldBy(ports, options, "a newer holder");
}

async function standIn(
  ports: Ports,
  options: AcquireOptions,
  owner: string,
  leaseMs: number,
  error: unknown,
): Promise<Acquisition> {
  ports.metrics.add("scheduler.lock.outage", 1);
  if (options.onLockOutage === "skip") {
    ports.metrics.add("scheduler.lock.skipped", 1);
    ports.log.error("lock store is away; skipping, the next pass catches up", { error });
    return { outcome: "lock-outage", heldBy: null };
  }
  ports.log.warn("lock store is away; the lock row in Postgres stands in", { error });
  const got = await ports.store.acquire(options.lockName, owner, leaseMs);
  if ("heldBy" in got) return heldBy(ports, options, got.heldBy);
  const lock = keep(
    ports,
    { name: options.lockName, owner, leaseMs },
    {
      fence: () => got.fence,
      raise: async () => false,
      renew: () => ports.store.renew(options.lockName, owner, got.fence, leaseMs),
      release: () => ports.store.release(options.lockName, owner, got.fence),
    },
  );
  return orRelease(lock, async () => {
    const before = await ports.store.installFence({ name: options.lockName, token: got.fence });
    if (before >= got.fence) return heldBy(ports, options, "a newer holder");
    return { lock, fence: { name: options.lockName, token: got.fence } };
  });
}

const dimensionsOf = ({ job }: AcquireOptions): Record<string, string> => (job === undefined ? {} : { job });

function heldBy(ports: Ports, options: AcquireOptions, by: string): Acquisition {
  ports.metrics.add("scheduler.lock.failed", 1, "Count", dimensionsOf(options));
  return { outcome: "held", heldBy: by };
}

function report(
  ports: Ports,
  outcome: PassReport["outcome"],
  by: string | null,
  passes: number,
  counts: Readonly<Record<string, number>>,
): PassReport {
  ports.metrics.flush();
  return { outcome, heldBy: by, passes, counts };
}

function add(totals: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + value;
}
