import { type Duration, durationMs } from "../calendar/duration.ts";
import { backoffNames, type BackoffName, type RetryPolicy } from "../machine/backoff.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { ProblemList } from "./problem.ts";
import { contractRange, readChoice, readCount, readDuration } from "./setting.ts";

export interface RetryOptions {
  /** Attempts that may fail, 1 to 1,000; 1 means no retry. */
  readonly maxAttempts: number;
  /**
   * `exponential` (default) doubles from `base` up to `cap`; `fixed` always waits `base`. A function answers how long to wait
   * after so many failures, `(failures) => "5m"`, from 0 on; `cap` bounds it.
   */
  readonly backoff?: BackoffName | ((failures: number) => Duration);
  /** Default 1s. */
  readonly base?: Duration;
  /** Default 1h; with a function of your own, the longest delay there is. */
  readonly cap?: Duration;
  /** Spreads retries over the upper half of the wait. Default false. */
  readonly jitter?: boolean;
  /**
   * Retries of this kind at most, as a share of its first attempts of the last minute: 0.2 lets a target that is down see 1.2 times its usual
   * calls. More than 0 and at most 10; 10 retries a minute may always go. Others wait longer; none is lost. Default: no bound.
   */
  readonly budget?: number;
}

export function retryFrom(retry: RetryOptions | undefined, problems: ProblemList): RetryPolicy {
  const wait = contractRange("delayMs");
  const own = typeof retry?.backoff === "function" ? ownBackoff(retry.backoff, problems) : null;
  const baseMs = readDuration(problems, "retry.base", retry?.base, {
    ...wait,
    fallback: contractLimits.retryBaseMsDefault,
  });
  const capDefault = own === null ? Math.max(baseMs, contractLimits.retryCapMsDefault) : contractLimits.delayMsMax;
  const capMs = readDuration(problems, "retry.cap", retry?.cap, { ...wait, fallback: capDefault });
  if (capMs < baseMs) {
    problems.add("retry.cap", retry?.cap, `must not be shorter than retry.base`, "raise the cap or lower the base");
  }
  const budget: unknown = retry?.budget;
  if (budget !== undefined && !(typeof budget === "number" && budget > 0 && budget <= 10))
    problems.add(
      "retry.budget",
      budget,
      "must be more than 0 and at most 10",
      "write 0.2 for a fifth, or leave it out",
    );
  return {
    ...(retry?.budget === undefined ? {} : { budget: retry.budget }),
    maxAttempts: readCount(problems, "retry.maxAttempts", retry?.maxAttempts, contractRange("maxAttempts")),
    backoff:
      own ?? readChoice(problems, "retry.backoff", retry?.backoff, { choices: backoffNames, fallback: "exponential" }),
    baseMs,
    capMs,
    jitter: retry?.jitter ?? false,
  };
}

/** Called once here, so that a function that returns no duration is found before a job waits by it. */
function ownBackoff(backoff: (failures: number) => Duration, problems: ProblemList): (failures: number) => number {
  const waitMs = (failures: number): number => durationMs(`retry.backoff(${failures})`, backoff(failures));
  try {
    waitMs(0);
  } catch (error) {
    const rule = `must answer a duration: ${error instanceof Error ? error.message : String(error)}`;
    problems.add("retry.backoff", backoff.name, rule, 'return a text like "30s" for each number of failures from 0 on');
  }
  return waitMs;
}
