import type { Registry } from "../define/definition.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import { passLimits } from "./pass-limits.ts";
import { runLimits } from "../machine/run-limits.ts";
import { acquire } from "./acquire.ts";
import { type Fence, FenceLost } from "../machine/fence.ts";
import { orWarn } from "../machine/or-warn.ts";
import type { Ports } from "../machine/ports.ts";
import { giveTurns, relay, resendOpen, wakeHeld } from "../run/relay.ts";
import { saveObservations, requeueLost, earlierObservations, type QueueObservations } from "../run/requeue.ts";
import { createLapsedLeases, type LapsedLeases, rescue } from "../run/rescue.ts";
import { keepCircuits } from "../run/circuits.ts";
import { resolveRuns } from "../run/after-commit.ts";
import { finishCancels } from "../run/cancel-run.ts";
import { replaceEarlier } from "../run/replace.ts";
import { installBlackouts } from "./install-schedules.ts";
import { finishRemovals } from "./finish-removals.ts";
import { tick } from "./tick.ts";

export interface PassOptions {
  /** Names this scheduler task; made unique per acquisition. */
  readonly owner: string;
  /** Milliseconds after which no new pass starts. A task that gets the lock makes at least one. */
  readonly untilMs: number;
  readonly onLockOutage: "postgres" | "skip";
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
  if (!("lock" in got)) return report(ports, { outcome: got.outcome, heldBy: got.heldBy, passes: 0, counts: {} });
  const { lock, fence } = got;
  await ports.crashPoint?.("fence.installed");
  const signal = AbortSignal.any([options.signal, lock.lost]);
  const totals: Record<string, number> = {};
  const observations: QueueObservations = await earlierObservations(ports);
  const lapsed = createLapsedLeases();
  const rests = new Map<string, number>();
  let passes = 0;
  let notedMs = Number.NEGATIVE_INFINITY;
  let outcome: PassReport["outcome"] = "done";
  try {
    // One pass in any case: waiting for the lock may have taken all the time.
    while (!signal.aborted && (passes === 0 || ports.clock.elapsedMs() - startedMs < options.untilMs)) {
      const counts = await pass(ports, registry, { ...options, fence, signal, observations, lapsed, rests });
      add(totals, counts);
      passes += 1;
      if (isWhole(counts) && !signal.aborted && ports.clock.elapsedMs() - notedMs >= passLimits.passNotedMs) {
        // Without the note this pass looks as if it had failed, and the next one is noted.
        await orWarn(ports.log, () => ports.store.passed(fence), "the pass could not be noted; the next one is");
        notedMs = ports.clock.elapsedMs();
      }
      await ports.clock.sleep(passLimits.passIntervalMs, signal);
    }
    if (lock.lost.aborted) outcome = "fence-lost";
    else await saveObservations(ports, observations);
  } catch (error) {
    if (!(error instanceof FenceLost)) throw error;
    ports.log.warn("another scheduler holds the lock now; stopping", { fence: fence.token });
    outcome = "fence-lost";
  } finally {
    await ports.crashPoint?.("lock.beforeRelease");
    await lock.release();
  }
  ports.metrics.add("scheduler.execution.time", ports.clock.elapsedMs() - startedMs, "Milliseconds");
  return report(ports, { outcome, heldBy: null, passes, counts: totals });
}

/** No step failed. A payload that could not be made is a fault of its schedule: its time is decided all the same. */
const isWhole = (counts: Readonly<Record<string, number>>): boolean =>
  Object.keys(counts).every((name) => name === "payload.failed" || !name.endsWith(".failed"));

/** Steps whose finds are not urgent: an idle system looks less often. Those of what no definition asks for find rows of earlier code. */
function restedOf({ jobs }: Registry): ReadonlySet<string> {
  const kinds = [...jobs.values()];
  const asked = {
    turns: kinds.some(({ turns }) => turns !== null),
    circuits: kinds.some(({ circuit, retry }) => circuit !== null || retry.budget !== undefined),
  };
  const unasked = Object.entries(asked).flatMap(([step, isAsked]) => (isAsked ? [] : step));
  return new Set(["blackouts", "replace", "removed", "prune", ...unasked]);
}

/** One pass, without taking the lock: every step is bounded, and a failed step does not stop the others. */
export async function pass(
  ports: Ports,
  registry: Registry,
  options: {
    fence?: Fence | undefined;
    signal: AbortSignal;
    observations?: QueueObservations;
    lapsed?: LapsedLeases;
    /** When each step that found nothing looks again, by the monotonic clock. Default: none rests. */
    rests?: Map<string, number>;
  },
): Promise<Readonly<Record<string, number>>> {
  const { signal, fence, lapsed = createLapsedLeases() } = options;
  const { rescueRowsMax: limit, rescueRoundsMax: rounds } = passLimits;
  const steps: readonly (readonly [string, () => Promise<Record<string, number>>])[] = [
    ["blackouts", () => installBlackouts(ports, registry)],
    ["tick", () => tick(ports, registry, { signal, fence })],
    ["prematerialized", () => decidePrematerialized(ports, fence)],
    ["relay", () => relay(ports, { signal, fence })],
    ["turns", () => giveTurns(ports, { of: "all", fence })],
    ["reopen", () => resendOpen(ports, { rounds: deliveryLimits.relayRoundsMax, signal, fence })],
    ["rescue", () => rescue(ports, registry, { lapsed, limit, rounds, signal, fence })],
    ["resolve", () => resolveRuns(ports, { runs: "all", rounds: runLimits.passResolveRoundsMax, signal, fence })],
    ["cancel", () => finishCancels(ports, registry, { signal })],
    ["replace", () => replaceEarlier(ports, registry, "all")],
    ["removed", () => finishRemovals(ports, registry, { signal, fence })],
    ["requeue", () => requeueLost(ports, registry, options.observations ?? new Map(), { fence })],
    ["wake", () => wakeHeld(ports, { slotKeys: "all", signal, fence })],
    ["circuits", () => keepCircuits(ports, registry)],
    ["prune", () => prune(ports, { fence })],
  ];
  const counts: Record<string, number> = {};
  const rested = restedOf(registry);
  for (const [name, step] of steps) {
    if (signal.aborted) break;
    if ((options.rests?.get(name) ?? 0) > ports.clock.elapsedMs()) continue;
    const found = await isolated(ports, name, step);
    if (rested.has(name) && Object.values(found).every((count) => count === 0))
      options.rests?.set(name, ports.clock.elapsedMs() + passLimits.passRestMs);
    add(counts, found);
  }
  return counts;
}

async function decidePrematerialized({ store }: Ports, fence: Fence | undefined): Promise<Record<string, number>> {
  const { withdrawn } = await store.decidePrematerialized({ limit: runLimits.prematerializedRunsMax, fence });
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

function report(ports: Ports, done: PassReport): PassReport {
  ports.metrics.flush();
  return done;
}

function add(totals: Record<string, number>, counts: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(counts)) totals[name] = (totals[name] ?? 0) + value;
}

/** Deletes a page of rows past their retention, and creates the partitions of the next days. */
export async function prune(
  ports: Pick<Ports, "store">,
  options: { fence?: Fence | undefined },
): Promise<Record<string, number>> {
  const pruned = await ports.store.prune({ limit: passLimits.pruneRowsMax, ...options });
  return { pruned: pruned.jobs, "pruned.occurrences": pruned.occurrences };
}
