import { reasons } from "./reasons.ts";
import { type AttemptOutcome, type FailureDetail, type HistoryRow, type Json, workerLost } from "./job.ts";
import { contractLimits } from "./contract-limits.ts";
import { backoffMs, type RetryPolicy } from "./backoff.ts";

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly detail?: FailureDetail;
}

/** How an attempt ended, as the worker saw it. */
export type Outcome =
  | { readonly is: "success"; readonly result: Json | null }
  | (Failure & { readonly is: "retryable"; readonly afterMs: number | null })
  | (Failure & { readonly is: "permanent" | "ambiguous" })
  | { readonly is: "released"; readonly reason: string }
  /** Its task could not be started, so this is no failure. `counted`: it counts as an interruption, which have a cap. */
  | {
      readonly is: "postponed";
      readonly code: string;
      readonly message: string;
      readonly afterMs: number;
      readonly counted: boolean;
    };

export interface Decision {
  readonly to: "SUCCESS" | "FAILED" | "RETRY_WAIT" | "QUEUED";
  readonly reason: string | null;
  /** RETRY_WAIT: until the next attempt. Within the dispatch window the row is QUEUED at once, with both moves recorded. */
  readonly delayMs: number;
  /** 1 when this counts against `maxAttempts`. */
  readonly failures: 0 | 1;
  readonly interruptions: 0 | 1;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly detail?: FailureDetail;
  readonly result: Json | null;
}

/** What the decision depends on besides the outcome: the row's own counters and the definition's policy. */
export interface AttemptCounters {
  readonly failures: number;
  readonly interruptions: number;
  readonly maxAttempts: number;
  readonly retry: RetryPolicy;
  readonly onAmbiguous: "retry" | "park";
}

/**
 * The one place that picks a job's next state when an attempt ends. Pure: `chance` in [0, 1) is the jitter.
 * Failures count against `maxAttempts`; interruptions are counted apart and have their own cap.
 */
export function decide(counters: AttemptCounters, outcome: Outcome, chance: number): Decision {
  switch (outcome.is) {
    case "success":
      return { ...noCounters, to: "SUCCESS", result: outcome.result };
    case "permanent":
      return failed(outcome, reasons.permanent);
    case "ambiguous":
      return counters.onAmbiguous === "park"
        ? failed(outcome, reasons.ambiguous)
        : retried(counters, { ...outcome, afterMs: null }, chance);
    case "retryable":
      return retried(counters, outcome, chance);
    case "released":
      return released(counters, outcome.reason);
    case "postponed":
      return postponed(counters, outcome);
  }
}

const noCounters = {
  reason: null,
  delayMs: 0,
  failures: 0,
  interruptions: 0,
  errorCode: null,
  errorMessage: null,
  result: null,
} as const satisfies Omit<Decision, "to">;

function failed(error: Failure, reason: string): Decision {
  return { ...noCounters, to: "FAILED", reason, failures: 1, ...describedBy(error) };
}

const describedBy = ({ code, message, detail }: Failure) => ({
  errorCode: code,
  errorMessage: message,
  ...(detail === undefined ? {} : { detail }),
});

function retried(
  counters: AttemptCounters,
  error: Failure & { readonly afterMs: number | null },
  chance: number,
): Decision {
  if (counters.failures + 1 >= counters.maxAttempts) return failed(error, reasons.attemptsUsedUp);
  return {
    ...noCounters,
    to: "RETRY_WAIT",
    reason: reasons.retry,
    delayMs: askedMs(error.afterMs) ?? backoffMs(counters.retry, counters.failures, chance),
    failures: 1,
    ...describedBy(error),
  };
}

/** Bounds the wait that a handler asks for: a due time beyond the column's range could not be written. */
const askedMs = (afterMs: number | null): number | null =>
  afterMs !== null && Number.isFinite(afterMs) && afterMs >= 0 ? Math.min(afterMs, contractLimits.delayMsMax) : null;

function released(counters: AttemptCounters, reason: string): Decision {
  if (counters.interruptions + 1 >= contractLimits.interruptionsMax) {
    return {
      ...noCounters,
      to: "FAILED",
      reason: reasons.interrupted,
      interruptions: 1,
      errorCode: "INTERRUPTED",
      errorMessage: `interrupted ${contractLimits.interruptionsMax} times without an outcome`,
    };
  }
  return { ...noCounters, to: "QUEUED", reason, interruptions: 1 };
}

function postponed(counters: AttemptCounters, outcome: Extract<Outcome, { is: "postponed" }>): Decision {
  const { code, message, afterMs, counted } = outcome;
  const error = { interruptions: counted ? 1 : 0, errorCode: code, errorMessage: message } as const;
  if (counted && counters.interruptions + 1 >= contractLimits.interruptionsMax) {
    return { ...noCounters, ...error, to: "FAILED", reason: reasons.neverStarted };
  }
  return { ...noCounters, ...error, to: "RETRY_WAIT", reason: reasons.postponed, delayMs: askedMs(afterMs) ?? 0 };
}

/** What the end of an attempt is called, by the move that ended it. In SQL: `belfry.attempt_outcome`. Which job of a lost batch was the cause is not known, so each is LOST. */
export function attemptOutcomeOf({
  to,
  reason,
  errorCode,
}: Pick<HistoryRow, "to" | "reason" | "errorCode">): AttemptOutcome {
  if (to === "SUCCESS" || to === "CANCELED") return to;
  if (reason === reasons.lost || (reason === reasons.interrupted && errorCode === workerLost)) return "LOST";
  return to === "QUEUED" || reason === reasons.postponed ? "RELEASED" : "FAILED";
}
