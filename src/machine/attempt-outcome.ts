import { reasons } from "./reasons.ts";
import type { State } from "./state.ts";

/**
 * How an attempt ended. FAILED: its handler failed, or the job was given up with it. LOST: its worker died. RELEASED: given back
 * without a charge, by a worker that stops or for a task that found no room.
 */
export type AttemptOutcome = "SUCCESS" | "FAILED" | "LOST" | "CANCELED" | "RELEASED";

export const attemptOutcomes = [
  "SUCCESS",
  "FAILED",
  "LOST",
  "CANCELED",
  "RELEASED",
] as const satisfies readonly AttemptOutcome[];

/** The move that ended an attempt. */
export interface AttemptEnd {
  readonly to: State;
  readonly reason: string | null;
  readonly errorCode: string | null;
}

/** The same in SQL is `belfry.attempt_outcome`. Which job of a lost batch was the cause is not known, so each is LOST. */
export function attemptOutcomeOf({ to, reason, errorCode }: AttemptEnd): AttemptOutcome {
  if (to === "SUCCESS" || to === "CANCELED") return to;
  if (reason === reasons.lost || (reason === reasons.interrupted && errorCode === workerLost)) return "LOST";
  return to === "QUEUED" || reason === reasons.postponed ? "RELEASED" : "FAILED";
}

/** The error code of an attempt whose worker died: its message is the cause of the worker's end. */
export const workerLost = "WORKER_LOST";
