import type { JobId } from "../machine/job.ts";
import type { Clock, Ports } from "../machine/ports.ts";
import type { LaneStore } from "../machine/lane-store.ts";
import type { Message } from "../machine/outbox.ts";
import type { Arrived } from "./message.ts";

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
