import type { Registry } from "../define/definition.ts";
import type { Circuits } from "./circuits.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { Clock, Ports } from "../machine/ports.ts";
import type { Settler } from "./settler.ts";
import type { JobId } from "../machine/job.ts";
import type { LaneStore } from "../machine/lane-store.ts";
import type { Message } from "../machine/outbox.ts";
import type { Arrived } from "./message.ts";

export interface WorkerScope {
  readonly ports: Ports;
  readonly registry: Registry;
  readonly options: WorkerOptions;
  readonly leases: LeaseKeeper;
  readonly settler: Settler;
  /** Null where no kind of this process has a circuit or a retry budget. */
  readonly circuits: Circuits | null;
  /** Of a kind of its lane. */
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
  /** Without it the lane is never paused. */
  readonly gate?: LaneGate;
}

/** Says whether a worker's lane is paused, and puts arriving jobs on hold while it is. */
export interface LaneGate {
  isPaused(): Promise<boolean>;
  hold(messages: readonly Message[]): Promise<readonly JobId[]>;
}

/** Cached for a second: operators do not notice the delay of a pause. */
const lookMs = 1_000;

export function createLaneGate(options: {
  lane: string;
  clock: Clock;
  store: Pick<LaneStore, "isPaused" | "holdPaused">;
}): LaneGate {
  const { lane, clock, store } = options;
  let looked: { readonly atMs: number; readonly paused: boolean } | null = null;
  return {
    async isPaused() {
      if (looked === null || clock.elapsedMs() - looked.atMs >= lookMs) {
        looked = { atMs: clock.elapsedMs(), paused: await store.isPaused(lane) };
      }
      return looked.paused;
    },
    hold: (messages) => store.holdPaused(messages),
  };
}

/** @returns null for a lane that is not paused. A message is given back only when it is unknown whether its job was held. */
export async function holdIfPaused(
  messages: readonly Arrived[],
  { gate, lane, log }: { gate?: LaneGate | undefined; lane: string; log: Ports["log"] },
): Promise<{ giveBack: readonly string[] } | null> {
  try {
    if (gate === undefined || !(await gate.isPaused())) return null;
    await gate.hold(messages.map(({ message }) => message));
    return { giveBack: [] };
  } catch (error) {
    log.warn("whether the lane is paused is not known; the messages are given back", { lane, error });
    return { giveBack: messages.map(({ messageId }) => messageId) };
  }
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
