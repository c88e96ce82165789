import { workerLimits } from "./worker-limits.ts";
import { Interruption } from "./interruption.ts";
import { contractLimits } from "../job/contract-limits.ts";
import type { Claimed, Clock, Ports, AttemptRef } from "../ports/ports.ts";

/** Keeps the leases of the running jobs, and tells a handler when its job is no longer its own. */
export interface LeaseKeeper {
  hold(job: Claimed): void;
  drop(job: Claimed): void;
  /** Aborts with an `Interruption`: the lease was lost, the job was canceled, the worker stops, or `interrupt` was called. */
  signal(job: Claimed): AbortSignal;
  interrupt(job: Claimed, why: Interruption): void;
  progress(job: Claimed, progress: number): void;
  /** Aborts every handler now, and gives up on those that still run after `graceMs`. */
  interruptAll(why: Interruption, graceMs: number): void;
  /** Calls `leave` `graceMs` after `interruptAll`: do not wait for the handler any longer. @returns what takes it back. */
  whenOverdue(leave: () => void): () => void;
}

interface HeldJob {
  readonly job: Claimed;
  readonly controller: AbortController;
  /** The last moment of which we know that the lease began anew. */
  keptAtMs: number;
  nextBeatMs: number;
  progress: number | undefined;
}

export function createLeaseKeeper(ports: Pick<Ports, "store" | "clock" | "log">, worker: string): LeaseKeeper {
  const held = new Map<string, HeldJob>();
  // Not a signal: each listener that is added to one is compared with all that are there.
  const overdue = new Set<() => void>();
  const timer = createTimer(ports.clock);
  let interruption: Interruption | null = null;
  let isBeating = false;

  const renew = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    const asked = [...held.values()];
    const startedMs = ports.clock.elapsedMs();
    const stopWatching = watch(ports.clock, held);
    let isAway = false;
    try {
      const kept = new Set((await ports.store.heartbeat(asked.map(beatOf), worker)).map(id));
      for (const renewing of asked) {
        if (kept.has(id(renewing.job))) renewing.keptAtMs = startedMs;
        else renewing.controller.abort(new Interruption("lost"));
      }
    } catch (error) {
      isAway = true;
      ports.log.warn("heartbeat failed", { jobs: asked.length, error });
      loseLapsed(ports.clock, held);
    }
    stopWatching();
    isBeating = false;
    for (const renewing of asked) renewing.nextBeatMs = ports.clock.elapsedMs() + pauseOf(renewing.job, isAway);
    if (held.size > 0) timer.set(soonest(held), () => void renew());
  };

  return {
    hold(job) {
      const nowMs = ports.clock.elapsedMs();
      const controller = new AbortController();
      if (interruption !== null) controller.abort(interruption);
      held.set(id(job), { job, controller, keptAtMs: nowMs, nextBeatMs: nowMs + thirdOf(job), progress: undefined });
      timer.set(nowMs + thirdOf(job), () => void renew());
    },
    drop(job) {
      held.delete(id(job));
      if (held.size === 0) timer.cancel();
    },
    signal: (job) => held.get(id(job))?.controller.signal ?? AbortSignal.abort(new Interruption("lost")),
    interrupt: (job, why) => held.get(id(job))?.controller.abort(why),
    progress(job, progress) {
      const renewing = held.get(id(job));
      if (renewing !== undefined) renewing.progress = progress;
    },
    interruptAll(why, graceMs) {
      interruption = why;
      for (const renewing of held.values()) renewing.controller.abort(why);
      ports.clock.after(graceMs, () => {
        for (const leave of overdue) leave();
      });
    },
    whenOverdue(leave) {
      overdue.add(leave);
      return () => void overdue.delete(leave);
    },
  };
}

const id = (job: AttemptRef): string => `${job.jobId}:${job.attempt}`;
/** After a failure soon again: a lease that expired in an outage is rescued `rescueLookMs` after the store is back. */
const pauseOf = (job: Claimed, isAway: boolean): number =>
  isAway ? Math.min(thirdOf(job), workerLimits.heartbeatRetryMs) : thirdOf(job);
const thirdOf = (job: Claimed): number => job.leaseMs / contractLimits.heartbeatsPerLease;
const soonest = (held: ReadonlyMap<string, HeldJob>): number =>
  Math.min(...[...held.values()].map((renewing) => renewing.nextBeatMs));

/** Fires at the earliest of the times it is set to: a job with a short lease must not wait for a long one's renew. */
function createTimer(clock: Clock): { set(atMs: number, run: () => void): void; cancel(): void } {
  let armed: { atMs: number; cancel: () => void } | null = null;
  return {
    set(atMs, run) {
      if (armed !== null && armed.atMs <= atMs) return;
      armed?.cancel();
      const cancel = clock.after(atMs - clock.elapsedMs(), () => {
        armed = null;
        run();
      });
      armed = { atMs, cancel };
    },
    cancel() {
      armed?.cancel();
      armed = null;
    },
  };
}

/** While a heartbeat is out, leases go on passing: a call that never answers must not keep a handler going. */
function watch(clock: Clock, held: ReadonlyMap<string, HeldJob>): () => void {
  const thirdMs = Math.min(...[...held.values()].map((renewing) => thirdOf(renewing.job)));
  let cancel = (): void => {};
  const look = (): void => {
    loseLapsed(clock, held);
    if ([...held.values()].some((renewing) => !renewing.controller.signal.aborted)) cancel = clock.after(thirdMs, look);
  };
  cancel = clock.after(thirdMs, look);
  return () => cancel();
}

function loseLapsed(clock: Clock, held: ReadonlyMap<string, HeldJob>): void {
  const nowMs = clock.elapsedMs();
  for (const renewing of held.values()) {
    if (nowMs - renewing.keptAtMs >= renewing.job.leaseMs) renewing.controller.abort(new Interruption("lapsed"));
  }
}

const beatOf = (renewing: HeldJob): { jobId: Claimed["jobId"]; attempt: number; progress?: number } => ({
  jobId: renewing.job.jobId,
  attempt: renewing.job.attempt,
  ...(renewing.progress === undefined ? {} : { progress: renewing.progress }),
});
