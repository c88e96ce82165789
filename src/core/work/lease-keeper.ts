import { workerLimits } from "./worker-limits.ts";
import { Interruption } from "./interruption.ts";
import { contractLimits } from "../job/contract-limits.ts";
import type { Claimed, Clock, Ports, AttemptRef } from "../ports/ports.ts";

/** Renews the leases of the running jobs, and aborts a handler whose job was lost. */
export interface LeaseKeeper {
  hold(job: Claimed): void;
  drop(job: Claimed): void;
  /** Aborts with an `Interruption`: the lease was lost, the job was canceled, the worker stops, or `interrupt` was called. */
  signal(job: Claimed): AbortSignal;
  interrupt(job: Claimed, why: Interruption): void;
  progress(job: Claimed, progress: number): void;
  /** Aborts every handler now, and abandons those that still run after `graceMs`. */
  interruptAll(why: Interruption, graceMs: number): void;
  /** Calls `leave` `graceMs` after `interruptAll`: stop waiting for the handler then. @returns a function that undoes this. */
  whenOverdue(leave: () => void): () => void;
}

interface HeldJob {
  readonly job: Claimed;
  readonly controller: AbortController;
  /** When the lease was last renewed for certain. */
  keptAtMs: number;
  nextBeatMs: number;
  progress: number | undefined;
}

export function createLeaseKeeper(ports: Pick<Ports, "store" | "clock" | "log">, worker: string): LeaseKeeper {
  const held = new Map<string, HeldJob>();
  // Not a signal: adding a listener to one compares it with all others.
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
/** Short after a failure: a lease that expired in an outage is rescued `rescueLookMs` after the store is back. */
const pauseOf = (job: Claimed, isAway: boolean): number =>
  isAway ? Math.min(thirdOf(job), workerLimits.heartbeatRetryMs) : thirdOf(job);
const thirdOf = (job: Claimed): number => job.leaseMs / contractLimits.heartbeatsPerLease;
const soonest = (held: ReadonlyMap<string, HeldJob>): number =>
  Math.min(...[...held.values()].map((renewing) => renewing.nextBeatMs));

/** Fires at the earliest of its times: a short lease must not wait for the renewal of a long one. */
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

/** Leases expire while a heartbeat is under way: a call that never answers must not keep a handler running. */
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
