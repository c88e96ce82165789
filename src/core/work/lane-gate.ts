import type { JobId } from "../job/job.ts";
import type { Clock } from "../ports/ports.ts";
import type { Message } from "../ports/outbox.ts";

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
  operations: {
    isPaused(lane: string): Promise<boolean>;
    holdPaused(messages: readonly Message[]): Promise<readonly JobId[]>;
  };
}): LaneGate {
  const { lane, clock, operations } = options;
  let looked: { readonly atMs: number; readonly paused: boolean } | null = null;
  return {
    async isPaused() {
      if (looked === null || clock.elapsedMs() - looked.atMs >= lookMs) {
        looked = { atMs: clock.elapsedMs(), paused: await operations.isPaused(lane) };
      }
      return looked.paused;
    },
    hold: (messages) => operations.holdPaused(messages),
  };
}
