/** How long a failed job waits before its next attempt. */
export interface BackoffBounds {
  readonly baseMs: number;
  readonly capMs: number;
}

/** Milliseconds after `failures` earlier failures; the caller cuts it at `capMs`. */
export type BackoffFunction = (failures: number, bounds: BackoffBounds) => number;

/** Beyond this a double of any base is above every cap, and a larger power would be infinite. */
const doublingsMax = 52;

export type BackoffName = "exponential" | "fixed";

/** The named backoffs. The check of `retry.backoff` and the docs derive from this table. */
export const backoffs = {
  exponential: (failures, { baseMs }) => baseMs * 2 ** Math.min(failures, doublingsMax),
  fixed: (_failures, { baseMs }) => baseMs,
} as const satisfies Readonly<Record<BackoffName, BackoffFunction>>;

export const backoffNames = Object.keys(backoffs) as readonly BackoffName[];

export interface RetryPolicy extends BackoffBounds {
  readonly maxAttempts: number;
  /** A name of the table, or a function of the definition's own. */
  readonly backoff: BackoffName | BackoffFunction;
  readonly jitter: boolean;
  /** Retries of the kind at most, as a share of its first attempts of the last minute. */
  readonly budget?: number;
}

/**
 * Milliseconds until the next attempt after `failures` earlier failures, at most `capMs`. Jitter takes the upper half of the
 * wait: early enough to be useful, spread enough not to march in step.
 * @throws RangeError when the definition's own function answers no number of milliseconds.
 */
export function backoffMs(retry: Omit<RetryPolicy, "maxAttempts">, failures: number, chance: number): number {
  const wait = typeof retry.backoff === "function" ? retry.backoff : backoffs[retry.backoff];
  const ms = wait(failures, retry);
  if (!(ms >= 0)) throw new RangeError(`retry.backoff(${failures}) is ${ms} ms; it must be 0 or more`);
  const capped = Math.min(ms, retry.capMs);
  return Math.round(retry.jitter ? capped * (0.5 + chance / 2) : capped);
}
