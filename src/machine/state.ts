/**
 * The state machine of a job: the states, the moves the table allows, and who makes each move.
 * `docs/state-machine.md` is generated from `transitions`; the database guard refuses every other pair.
 */
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

/** One allowed move. `from: null` is the insert. */
export interface Transition {
  readonly from: State | null;
  readonly to: State;
  /** The verb that makes the move. */
  readonly by: "enqueue" | "relay" | "work" | "rescue" | "resolve" | "control";
  readonly when: string;
}

const t = (from: State | null, to: State, by: Transition["by"], when: string): Transition => ({ from, to, by, when });

export const transitions: readonly Transition[] = [
  t(null, "PENDING", "enqueue", "due later than the dispatch window, or waiting for predecessors"),
  t(null, "QUEUED", "enqueue", "due within the dispatch window: inserted and dispatched at once"),
  t(
    "PENDING",
    "QUEUED",
    "relay",
    "due within the dispatch window, or released by its last predecessor; a new generation",
  ),
  t("RETRY_WAIT", "QUEUED", "relay", "its retry is due within the dispatch window; a new generation"),
  t("QUEUED", "RUNNING", "work", "claimed: attempt + 1, lease set"),
  t(
    "QUEUED",
    "PENDING",
    "work",
    "held (no slot, closed lane or kind), or its message is lost or died; a new generation",
  ),
  t(
    "PENDING",
    "SKIPPED",
    "resolve",
    "a branch that is not taken, what depends on a failure, what a newer graph has no more, or its run stopped",
  ),
  t(
    "QUEUED",
    "SKIPPED",
    "work",
    "decided at its claim: overlap, pause, deleted, expired, lock held, no longer wanted, run stopped",
  ),
  t("RETRY_WAIT", "SKIPPED", "resolve", "its run stopped"),
  t("RUNNING", "SUCCESS", "work", "settled"),
  t(
    "RUNNING",
    "RETRY_WAIT",
    "work",
    "settled: retryable and attempts left; or rescued after it ran alone (WORKER_LOST)",
  ),
  t(
    "RUNNING",
    "QUEUED",
    "rescue",
    "released by a stopping worker, or rescued from a batch that died: interruptions + 1",
  ),
  t("RUNNING", "FAILED", "work", "permanent error, attempts used up, interruption cap, or AMBIGUOUS"),
  t("QUEUED", "FAILED", "work", "undeliverable: its messages died unclaimed"),
  t("PENDING", "CANCELED", "control", "canceled, or its schedule withdrew it or was removed"),
  t(
    "QUEUED",
    "CANCELED",
    "control",
    "canceled, its schedule withdrew it or was removed, or a claim found its run canceled",
  ),
  t("RUNNING", "CANCELED", "control", "canceled; the worker stops at its next heartbeat"),
  t("RETRY_WAIT", "CANCELED", "control", "canceled"),
  t("FAILED", "QUEUED", "control", "an operator's retry: same id, key and history, dispatched at once"),
  t("CANCELED", "QUEUED", "control", "an operator's retry: same id, key and history, dispatched at once"),
  t("SKIPPED", "QUEUED", "control", "an operator's retry: same id, key and history, dispatched at once"),
  t("FAILED", "PENDING", "control", "a paced retry, or a resume of its run"),
  t("CANCELED", "PENDING", "control", "a paced retry, or a resume of its run"),
  t("SKIPPED", "PENDING", "control", "a paced retry, a resume of its run, or a backfill"),
];

const allowed = new Set(transitions.map((move) => `${move.from ?? ""}>${move.to}`));

/** Whether the table would accept this change of state. Staying in a state is not a move. */
export const isAllowed = (from: State | null, to: State): boolean => allowed.has(`${from ?? ""}>${to}`);

export const finalStates = ["SUCCESS", "FAILED", "CANCELED", "SKIPPED"] as const satisfies readonly State[];

export const isFinal = (state: State): boolean => (finalStates as readonly State[]).includes(state);
