import type { LaneGate } from "./lane-gate.ts";

export interface WorkerOptions {
  /** Names this worker in attempts and events; unique per process. */
  readonly worker: string;
  readonly lane: string;
  readonly stage: string;
  /** Without it the lane is never paused. */
  readonly gate?: LaneGate;
}
