import { Interruption } from "./handler.ts";
import { limits } from "./limits.ts";
import type { Claimed, Ports } from "./ports.ts";

/** Keeps the leases of the running jobs, and tells a handler when its job is no longer its own. */
export interface Heart {
  hold(job: Claimed): void;
  drop(job: Claimed): void;
  /** Aborts with an `Interruption` when the lease was lost, the job was canceled, or the worker stops. */
  signal(job: Claimed): AbortSignal;
  progress(job: Claimed, progress: number): void;
  /** Aborts every handler now, and gives up on those that still run after `graceMs`. */
  interruptAll(why: Interruption, graceMs: number): void;
  /** Aborts `graceMs` after `interruptAll`: do not wait for the handler any longer. */
  readonly overdue: AbortSignal;
}

interface Beating {
  readonly job: Claimed;
  readonly controller: AbortController;
  keptAtMs: number;
  progress: number | undefined;
}

export function createHeart(ports: Pick<Ports, "store" | "clock" | "log">, worker: string): Heart {
  const held = new Map<string, Beating>();
  const overdue = new AbortController();
  let cancel: (() => void) | null = null;
  const id = (job: Claimed): string => `${job.jobId}:${job.attempt}`;

  const schedule = (): void => {
    if (cancel !== null || held.size === 0) return;
    const shortestMs = Math.min(...[...held.values()].map((beating) => beating.job.leaseMs));
    cancel = ports.clock.after(shortestMs / limits.heartbeatsPerLease, () => {
      void beat().finally(() => {
        cancel = null;
        schedule();
      });
    });
  };

  const beat = async (): Promise<void> => {
    const asked = [...held.values()];
    const startedMs = ports.clock.elapsedMs();
    try {
      const kept = new Set(await ports.store.heartbeat(asked.map(beatOf), worker));
      for (const beating of asked) {
        if (kept.has(beating.job.jobId)) beating.keptAtMs = startedMs;
        else beating.controller.abort(new Interruption("lost"));
      }
    } catch (error) {
      ports.log.warn("heartbeat failed", { jobs: asked.length, error });
      const nowMs = ports.clock.elapsedMs();
      for (const beating of asked) {
        if (nowMs - beating.keptAtMs >= beating.job.leaseMs) beating.controller.abort(new Interruption("lost"));
      }
    }
  };

  return {
    hold(job) {
      held.set(id(job), {
        job,
        controller: new AbortController(),
        keptAtMs: ports.clock.elapsedMs(),
        progress: undefined,
      });
      schedule();
    },
    drop(job) {
      held.delete(id(job));
      if (held.size > 0 || cancel === null) return;
      cancel();
      cancel = null;
    },
    signal: (job) => held.get(id(job))?.controller.signal ?? AbortSignal.abort(new Interruption("lost")),
    progress(job, progress) {
      const beating = held.get(id(job));
      if (beating !== undefined) beating.progress = progress;
    },
    interruptAll(why, graceMs) {
      for (const beating of held.values()) beating.controller.abort(why);
      ports.clock.after(graceMs, () => overdue.abort(why));
    },
    overdue: overdue.signal,
  };
}

const beatOf = (beating: Beating): { jobId: Claimed["jobId"]; attempt: number; progress?: number } => ({
  jobId: beating.job.jobId,
  attempt: beating.job.attempt,
  ...(beating.progress === undefined ? {} : { progress: beating.progress }),
});
