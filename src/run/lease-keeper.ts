import type { AttemptRef } from "../machine/job.ts";
import { workerLimits } from "./worker-limits.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Claimed, AttemptProgress } from "../machine/store.ts";
import type { Clock, Ports } from "../machine/ports.ts";

/** Renews the leases of the running jobs, and interrupts a handler whose job was lost. */
export interface LeaseKeeper {
  hold(job: Claimed): void;
  drop(job: Claimed): void;
  /** Interrupted as lost when the job is not held. */
  holdOf(job: Claimed): Hold;
  /** Written at once, but at most every `progressIntervalMs`. */
  progress(job: Claimed, progress: number): void;
  /** Writes progress that is not written yet. Never throws: it must not keep an outcome from being written. */
  flush(job: Claimed): Promise<void>;
  /** Interrupts every handler now, and leaves those behind that still run after `graceMs`. */
  interruptAll(why: Interruption, graceMs: number): void;
}

/** A job under this worker's lease, as its attempt sees it. */
export interface Hold {
  /** The lease was lost, the job was canceled, its time is over or the worker stops; null while the handler may run. */
  readonly interruption: Interruption | null;
  /** Aborts with the interruption. Made when it is first asked for: it is among the dearest objects of an attempt. */
  readonly signal: AbortSignal;
  /** Called a grace after an interruption, so that nothing waits for the handler any longer. */
  leave: (() => void) | null;
  /** Interrupts the handler after `ms`. */
  endAfter(ms: number, why: Interruption["why"]): void;
}

/** What the holds of one worker share. */
interface Keeping {
  readonly clock: Clock;
  readonly ends: EarliestTimer;
  /** Set when the worker stops: then its grace counts for every handler. */
  stopped: Interruption | null;
}

class HeldJob implements Hold {
  readonly job: Claimed;
  interruption: Interruption | null;
  leave: (() => void) | null = null;
  /** When the lease was last renewed for certain. */
  keptAtMs: number;
  nextBeatMs: number;
  progress: number | undefined = undefined;
  written: number | undefined = undefined;
  /** When progress may be written again. */
  nextWriteMs: number;
  end: { readonly atMs: number; readonly why: Interruption["why"] } | null = null;
  readonly #keeping: Keeping;
  #controller: AbortController | null = null;
  #cancelGrace: (() => void) | null = null;

  constructor(job: Claimed, keeping: Keeping, nowMs: number) {
    this.job = job;
    this.interruption = keeping.stopped;
    this.keptAtMs = nowMs;
    this.nextBeatMs = nowMs + thirdOf(job);
    this.nextWriteMs = nowMs;
    this.#keeping = keeping;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.interruption !== null) this.#controller.abort(this.interruption);
    return this.#controller.signal;
  }

  get hasUnwrittenProgress(): boolean {
    return this.progress !== this.written;
  }

  endAfter(ms: number, why: Interruption["why"]): void {
    const atMs = this.#keeping.clock.elapsedMs() + ms;
    this.end = { atMs, why };
    this.#keeping.ends.set(atMs);
  }

  /** The first interruption counts. */
  interrupt(why: Interruption): void {
    if (this.interruption !== null) return;
    this.interruption = why;
    this.#controller?.abort(why);
    const { clock, stopped } = this.#keeping;
    if (stopped === null) this.#cancelGrace = clock.after(workerLimits.abortGraceMs, () => this.leave?.());
  }

  drop(): void {
    this.#cancelGrace?.();
  }
}

export function createLeaseKeeper(ports: Pick<Ports, "store" | "clock" | "log">, worker: string): LeaseKeeper {
  const { clock } = ports;
  const held = new Map<string, HeldJob>();
  const beats = earliestTimer(clock, () => void renew());
  const ends = earliestTimer(clock, () => interruptEnded(keeping, held));
  const keeping: Keeping = { clock, ends, stopped: null };
  let isBeating = false;

  const renew = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    const [asked, startedMs] = [[...held.values()], clock.elapsedMs()];
    let isAway = false;
    const stopWatching = watch(clock, held);
    const sent = asked.map((renewing) => beginBeat(renewing, startedMs));
    try {
      const kept = new Set((await ports.store.heartbeat(sent, worker)).map(id));
      for (const [n, renewing] of asked.entries()) {
        renewing.written = sent[n]?.progress;
        if (kept.has(id(renewing.job))) renewing.keptAtMs = startedMs;
        else renewing.interrupt(new Interruption("lost"));
      }
    } catch (error) {
      isAway = true;
      ports.log.warn("heartbeat failed", { jobs: asked.length, error });
      loseLapsed(clock, held);
    }
    stopWatching();
    isBeating = false;
    for (const renewing of asked) renewing.nextBeatMs = nextBeatOf(renewing, clock.elapsedMs(), isAway);
    if (held.size > 0) beats.set(soonest(held));
  };

  return {
    hold(job) {
      const holding = new HeldJob(job, keeping, clock.elapsedMs());
      held.set(id(job), holding);
      beats.set(holding.nextBeatMs);
    },
    drop(job) {
      held.get(id(job))?.drop();
      held.delete(id(job));
      if (held.size > 0) return;
      beats.cancel();
      ends.cancel();
    },
    holdOf: (job) => held.get(id(job)) ?? lost(job, keeping),
    progress(job, progress) {
      const renewing = held.get(id(job));
      if (renewing === undefined) return;
      note(renewing, progress);
      if (!isBeating) beats.set(renewing.nextBeatMs);
    },
    async flush(job) {
      const renewing = held.get(id(job));
      if (renewing?.hasUnwrittenProgress !== true) return;
      await ports.store.heartbeat([beginBeat(renewing, clock.elapsedMs())], worker).catch(() => {});
    },
    interruptAll(why, graceMs) {
      keeping.stopped = why;
      for (const holding of held.values()) holding.interrupt(why);
      clock.after(graceMs, () => {
        for (const { leave } of held.values()) leave?.();
      });
    },
  };
}

function lost(job: Claimed, keeping: Keeping): Hold {
  const none = new HeldJob(job, keeping, 0);
  none.interruption = new Interruption("lost");
  return none;
}

/** One timer for all handlers: most of them end long before. */
function interruptEnded(keeping: Keeping, held: ReadonlyMap<string, HeldJob>): void {
  const nowMs = keeping.clock.elapsedMs();
  let nextMs = Number.POSITIVE_INFINITY;
  for (const holding of held.values()) {
    const { end } = holding;
    if (end === null || holding.interruption !== null) continue;
    if (end.atMs <= nowMs) holding.interrupt(new Interruption(end.why));
    else nextMs = Math.min(nextMs, end.atMs);
  }
  if (nextMs < Number.POSITIVE_INFINITY) keeping.ends.set(nextMs);
}

function note(renewing: HeldJob, progress: number): void {
  renewing.progress = progress;
  if (progress !== renewing.written) renewing.nextBeatMs = Math.min(renewing.nextBeatMs, renewing.nextWriteMs);
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

interface EarliestTimer {
  set(atMs: number): void;
  cancel(): void;
}

/** Fires at the earliest of its times: a short lease must not wait for the renewal of a long one. */
function earliestTimer(clock: Clock, run: () => void): EarliestTimer {
  let armed: { atMs: number; cancel: () => void } | null = null;
  return {
    set(atMs) {
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
  // At the next end of a lease, and each third for one that was claimed since.
  const wait = (): void => {
    const ends = [...held.values()].filter(isGoingOn).map(({ keptAtMs, job }) => keptAtMs + job.leaseMs);
    if (ends.length > 0) cancel = clock.after(Math.min(thirdMs, ...ends.map((atMs) => atMs - clock.elapsedMs())), look);
  };
  const look = (): void => {
    loseLapsed(clock, held);
    wait();
  };
  wait();
  return () => cancel();
}

const isGoingOn = ({ interruption }: HeldJob): boolean => interruption === null;

function loseLapsed(clock: Clock, held: ReadonlyMap<string, HeldJob>): void {
  const nowMs = clock.elapsedMs();
  for (const renewing of held.values()) {
    if (nowMs - renewing.keptAtMs >= renewing.job.leaseMs) renewing.interrupt(new Interruption("lapsed"));
  }
}

function beginBeat(renewing: HeldJob, nowMs: number): AttemptProgress {
  const { job, progress } = renewing;
  renewing.nextWriteMs = nowMs + workerLimits.progressIntervalMs;
  return { jobId: job.jobId, attempt: job.attempt, ...(progress === undefined ? {} : { progress }) };
}

/** Why a handler's signal aborted. It is the signal's reason. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly why: "timeout" | "deadline" | "stopped" | "lost" | "lapsed";
  constructor(why: Interruption["why"]) {
    super(messages[why]);
    this.why = why;
  }
}

const messages: Record<Interruption["why"], string> = {
  timeout: "the handler did not finish within its timeout",
  deadline: "the worker's own time ran out",
  stopped: "the worker was stopped",
  lost: "the job is no longer this worker's: its lease ended or it was canceled",
  lapsed: "the lease could not be renewed for its whole length, so another worker may have the job",
};
