/** How a job shares its lane with others. */

/** Priorities, as levels: one level is worth the `aging` of the lane. */
export type Priority = "high" | "normal" | "low";
export const levels: Readonly<Record<Priority, number>> = { high: -1, normal: 0, low: 1 };

export interface Turn {
  /** `turn:LANE#LEVEL#KEY`; the key is empty where only a priority is set. */
  readonly heldOn: string;
  /** Beside those of other keys: a key with 4 gets four turns where one with 1 gets one. */
  readonly weight: number;
}

export interface TurnLane {
  readonly lane: string;
  /** Jobs that it runs at once. */
  readonly places: number;
  /** Jobs whose message may be out, RUNNING ones among them. */
  readonly ahead: number;
  readonly agingMs: number;
}

/** What a committed change leaves. */
export interface LeftTurns {
  /** Lanes of which such jobs ended: theirs are dispatched once several places are free. */
  readonly lanes: readonly string[];
  /** What new jobs are held on. */
  readonly keys: readonly string[];
}
