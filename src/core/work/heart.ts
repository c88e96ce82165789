import { Interruption } from "./interruption.ts";
import { limits } from "../limits.ts";
import type { Claimed, Clock, Ports, Try } from "../ports/ports.ts";

/** Keeps the leases of the running jobs, and tells a handler when its job is no longer its own. */
export interface Heart {
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

interface Beating {
  readonly job: Claimed;
  readonly controller: AbortController;
  /** The last moment of which we know that the lease began anew. */
  keptAtMs: number;
  nextBeatMs: number;
  progress: number | undefined;
}

export function createHeart(ports: Pick<Ports, "store" | "clock" | "log">, worker: string): Heart {
  const held = new Map<string, Beating>();
  // Not a signal: each listener that is added to one is compared with all that are there.
  const overdue = new Set<() => void>();
  const timer = createTimer(ports.clock);
  let interruption: Interruption | null = null;
  let isBeating = false;

  const beat = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    const asked = [...held.values()];
    const startedMs = ports.clock.elapsedMs();
    const stopWatching = watch(ports.clock, held);
    try {
      const kept = new Set((await ports.store.heartbeat(asked.map(beatOf), worker)).map(id));
      for (const beating of asked) {
        if (kept.has(id(beating.job))) beating.keptAtMs = startedMs;
        else beating.controller.abort(new Interruption("lost"));
      }
    } catch (error) {
      ports.log.warn("heartbeat failed", { jobs: asked.length, error });
      loseLapsed(ports.clock, held);
    }
    stopWatching();
    isBeating = false;
    for (const beating of asked) beating.nextBeatMs = ports.clock.elapsedMs() + thirdOf(beating.job);
    if (held.size > 0) timer.set(soonest(held), () => void beat());
  };

  return {
    hold(job) {
      const nowMs = ports.clock.elapsedMs();
      const controller = new AbortController();
      if (interruption !== null) controller.abort(interruption);
      held.set(id(job), { job, controller, keptAtMs: nowMs, nextBeatMs: nowMs + thirdOf(job), progress: undefined });
      timer.set(nowMs + thirdOf(job), () => void beat());
    },
    drop(job) {
      held.delete(id(job));
      if (held.size === 0) timer.cancel();
    },
    signal: (job) => held.get(id(job))?.controller.signal ?? AbortSignal.abort(new Interruption("lost")),
    interrupt: (job, why) => held.get(id(job))?.controller.abort(why),
    progress(job, progress) {
      const beating = held.get(id(job));
      if (beating !== undefined) beating.progress = progress;
    },
    interruptAll(why, graceMs) {
      interruption = why;
      for (const beating of held.values()) beating.controller.abort(why);
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

const id = (job: Try): string => `${job.jobId}:${job.attempt}`;
const thirdOf = (job: Claimed): number => job.leaseMs / limits.heartbeatsPerLease;
const soonest = (held: ReadonlyMap<string, Beating>): number =>
  Math.min(...[...held.values()].map((beating) => beating.nextBeatMs));

/** Fires at the earliest of the times it is set to: a job with a short lease must not wait for a long one's beat. */
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
function watch(clock: Clock, held: ReadonlyMap<string, Beating>): () => void {
  const thirdMs = Math.min(...[...held.values()].map((beating) => thirdOf(beating.job)));
  let cancel = (): void => {};
  const look = (): void => {
    loseLapsed(clock, held);
    if ([...held.values()].some((beating) => !beating.controller.signal.aborted)) cancel = clock.after(thirdMs, look);
  };
  cancel = clock.after(thirdMs, look);
  return () => cancel();
}

function loseLapsed(clock: Clock, held: ReadonlyMap<string, Beating>): void {
  const nowMs = clock.elapsedMs();
  for (const beating of held.values()) {
    if (nowMs - beating.keptAtMs >= beating.job.leaseMs) beating.controller.abort(new Interruption("lost"));
  }
}

const beatOf = (beating: Beating): { jobId: Claimed["jobId"]; attempt: number; progress?: number } => ({
  jobId: beating.job.jobId,
  attempt: beating.job.attempt,
  ...(beating.progress === undefined ? {} : { progress: beating.progress }),
});
