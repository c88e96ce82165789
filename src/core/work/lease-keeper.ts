import { workerLimits } from "./worker-limits.ts";
import { Interruption } from "./interruption.ts";
import { contractLimits } from "../job/contract-limits.ts";
import type { AttemptRef, Claimed, Clock, AttemptProgress, Ports } from "../ports/ports.ts";

/** Renews the leases of the running jobs, and aborts a handler whose job was lost. */
export interface LeaseKeeper {
  hold(job: Claimed): void;
  drop(job: Claimed): void;
  /** Aborts with an `Interruption`: the lease was lost, the job was canceled, the worker stops, or `interrupt` was called. */
  signal(job: Claimed): AbortSignal;
  interrupt(job: Claimed, why: Interruption): void;
  /** Written at once, but at most every `progressIntervalMs`. */
  progress(job: Claimed, progress: number): void;
  /** Writes progress that is not written yet. Never throws: it must not keep an outcome from being written. */
  flush(job: Claimed): Promise<void>;
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
  written: number | undefined;
  /** When progress may be written again. */
  nextWriteMs: number;
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
    const [asked, startedMs] = [[...held.values()], ports.clock.elapsedMs()];
    let isAway = false;
    const stopWatching = watch(ports.clock, held);
    const beats = asked.map((renewing) => beginBeat(renewing, startedMs));
    try {
      const kept = new Set((await ports.store.heartbeat(beats, worker)).map(id));
      for (const [n, renewing] of asked.entries()) {
        renewing.written = beats[n]?.progress;
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
    for (const renewing of asked) renewing.nextBeatMs = nextBeatOf(renewing, ports.clock.elapsedMs(), isAway);
    if (held.size > 0) timer.set(soonest(held), () => void renew());
  };

  return {
    hold(job) {
      const nowMs = ports.clock.elapsedMs();
      const controller = new AbortController();
      if (interruption !== null) controller.abort(interruption);
      held.set(id(job), heldFrom(job, controller, nowMs));
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
      if (renewing === undefined || !note(renewing, progress)) return;
      if (!isBeating) timer.set(renewing.nextBeatMs, () => void renew());
    },
    async flush(job) {
      const renewing = held.get(id(job));
      if (renewing === undefined || renewing.progress === renewing.written) return;
      await ports.store.heartbeat([beginBeat(renewing, ports.clock.elapsedMs())], worker).catch(() => {});
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

const heldFrom = (job: Claimed, controller: AbortController, nowMs: number): HeldJob => ({
  job,
  controller,
  keptAtMs: nowMs,
  nextBeatMs: nowMs + thirdOf(job),
  progress: undefined,
  written: undefined,
  nextWriteMs: nowMs,
});

/** @returns false when there is nothing to write. */
function note(renewing: HeldJob, progress: number): boolean {
  renewing.progress = progress;
  if (progress === renewing.written) return false;
  renewing.nextBeatMs = Math.min(renewing.nextBeatMs, renewing.nextWriteMs);
  return true;
}

/** Sooner than the lease needs it, when progress came while a beat was under way. */
const nextBeatOf = ({ job, progress, written, nextWriteMs }: HeldJob, nowMs: number, isAway: boolean): number =>
  isAway || progress === written ? nowMs + pauseOf(job, isAway) : nextWriteMs;

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

function beginBeat(renewing: HeldJob, nowMs: number): AttemptProgress {
  const { job, progress } = renewing;
  renewing.nextWriteMs = nowMs + workerLimits.progressIntervalMs;
  return { jobId: job.jobId, attempt: job.attempt, ...(progress === undefined ? {} : { progress }) };
}
