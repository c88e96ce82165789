import type { JobId } from "../machine/job.ts";
import type { Clock } from "../machine/ports.ts";
import type { LaneStore } from "../machine/lane-store.ts";
import type { Message } from "../machine/outbox.ts";

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
