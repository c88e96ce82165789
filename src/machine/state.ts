/** The states of a job. `docs/state-machine.md` has its moves; the database guard refuses every other. */
export const states = [
  "PENDING",
  "QUEUED",
  "RUNNING",
  "RETRY_WAIT",
  "SUCCESS",
  "FAILED",
  "CANCELED",
  "SKIPPED",
] as const satisfies readonly State[];

export type State = "PENDING" | "QUEUED" | "RUNNING" | "RETRY_WAIT" | "SUCCESS" | "FAILED" | "CANCELED" | "SKIPPED";

export const finalStates = ["SUCCESS", "FAILED", "CANCELED", "SKIPPED"] as const satisfies readonly State[];

export const isFinal = (state: State): boolean => (finalStates as readonly State[]).includes(state);
