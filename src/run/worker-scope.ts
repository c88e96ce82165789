import type { Registry } from "../define/definition.ts";
import type { Circuits } from "./circuits.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Clock, Ports } from "../machine/ports.ts";
import type { Settler } from "./settler.ts";
import type { JobId } from "../machine/job.ts";
import type { Message } from "../machine/outbox.ts";

export interface WorkerScope {
  readonly ports: Ports;
  readonly registry: Registry;
  readonly options: WorkerOptions;
  readonly leases: LeaseKeeper;
  readonly settler: Settler;
  /** Null where no kind of this process has a circuit or a retry budget. */
  readonly circuits: Circuits | null;
  /** Whether a kind of its lane runs in batches. */
  readonly hasBatches: boolean;
  /** Paces the launches of tasks. */
  readonly launches: RateLimiter;
  /** Aborts when the worker stops. */
  readonly stopping: AbortSignal;
  /** The process has no file descriptors left: it should end after its batch. */
  readonly spend: () => void;
}

export interface WorkerOptions {
  /** Names this worker in attempts and events; unique per process. */
  readonly worker: string;
  readonly lane: string;
  readonly stage: string;
  /** How long `ctx.limit` waits, when the attempt has more time. Default: no other bound. */
  readonly limitWaitMsMax?: number;
  /** Without it no lane or kind is ever closed. */
  readonly gate?: LaneGate;
}

/** Puts arriving jobs on hold while their lane or kind is closed. */
export interface LaneGate {
  /** @returns those that it held */
  hold(messages: readonly Message[]): Promise<readonly JobId[]>;
}

export interface RateLimiter {
  /** Resolves when it is the caller's turn; false, at once, when too many wait already. */
  acquire(): Promise<boolean>;
}

/** Lets callers through one after another, `intervalMs` apart. */
export function createRateLimiter(
  clock: Clock,
  { intervalMs, waitingMax }: { intervalMs: number; waitingMax: number },
): RateLimiter {
  let nextMs = clock.elapsedMs();
  return {
    async acquire() {
      const nowMs = clock.elapsedMs();
      const waitMs = Math.max(0, nextMs - nowMs);
      if (waitMs > intervalMs * waitingMax) return false;
      nextMs = nowMs + waitMs + intervalMs;
      if (waitMs > 0) await clock.sleep(waitMs);
      return true;
    },
  };
}
