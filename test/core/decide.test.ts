import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { backoffMs, type RetryPolicy } from "../../src/machine/backoff.ts";
import { decide, type Outcome, type AttemptCounters } from "../../src/machine/decide.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { isAllowed } from "../../src/machine/state.ts";

const retry: RetryPolicy = { maxAttempts: 3, backoff: "exponential", baseMs: 1_000, capMs: 60_000, jitter: false };

const tries = (over: Partial<AttemptCounters> = {}): AttemptCounters => ({
  failures: 0,
  interruptions: 0,
  maxAttempts: 3,
  retry,
  onAmbiguous: "retry",
  ...over,
});

const retryable = (afterMs: number | null = null): Outcome => ({
  is: "retryable",
  code: "HTTP_503",
  message: "busy",
  afterMs,
});

describe("the next state of a job", () => {
  test("a task that could not be started costs no failure: it waits, and is counted only when that is asked", () => {
    const postponed = (counted: boolean): Outcome => ({
      is: "postponed",
      code: "NO_ROOM",
      message: "no capacity",
      afterMs: 7_000,
      counted,
    });
    const last = tries({ failures: 2, interruptions: contractLimits.interruptionsMax - 1 });
    const waits = { to: "RETRY_WAIT", reason: "postponed", delayMs: 7_000, failures: 0, errorCode: "NO_ROOM" };
    expect(decide(last, postponed(false), 0.5)).toMatchObject({ ...waits, interruptions: 0 });
    expect(decide(tries(), postponed(true), 0.5)).toMatchObject({ ...waits, interruptions: 1 });
    expect(decide(last, postponed(true), 0.5)).toMatchObject({ to: "FAILED", failures: 0, reason: "never started" });
  });

  test("the failure that uses up the tries is FAILED", () => {
    expect(decide(tries({ failures: 2 }), retryable(), 0.5)).toMatchObject({
      to: "FAILED",
      reason: "attempts used up",
    });
    expect(decide(tries({ failures: 1 }), retryable(), 0.5)).toMatchObject({ to: "RETRY_WAIT" });
  });

  test("interruptions do not use up tries", () => {
    expect(decide(tries({ failures: 0, interruptions: 15 }), retryable(), 0.5).to).toBe("RETRY_WAIT");
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1])(
    "a wait of %s ms, which no due time can hold, falls back to the backoff",
    (afterMs) => {
      expect(decide(tries(), retryable(afterMs), 0.5).delayMs).toBe(1_000);
    },
  );

  test("a wait longer than any delay may be is cut to the longest", () => {
    expect(decide(tries(), retryable(contractLimits.delayMsMax * 10), 0.5).delayMs).toBe(contractLimits.delayMsMax);
  });

  test("an ambiguous end is retried unless the definition parks it", () => {
    const outcome = { is: "ambiguous", code: "AMBIGUOUS", message: "sent, no answer" } as const;
    expect(decide(tries(), outcome, 0.5)).toMatchObject({ to: "RETRY_WAIT", failures: 1 });
    expect(decide(tries({ onAmbiguous: "park" }), outcome, 0.5)).toMatchObject({ to: "FAILED", reason: "ambiguous" });
  });

  test("a release costs an interruption and no failure, and the last that is allowed ends the job", () => {
    const at = (interruptions: number) => decide(tries({ interruptions }), { is: "released", reason: "stopped" }, 0.5);
    const released = { to: "QUEUED", reason: "stopped", delayMs: 0, failures: 0, interruptions: 1 };
    expect(at(contractLimits.interruptionsMax - 2)).toMatchObject(released);
    expect(at(contractLimits.interruptionsMax - 1)).toMatchObject({
      to: "FAILED",
      reason: "interrupted",
      interruptions: 1,
    });
  });

  test("every decision is a move the state machine allows, and counts at most one failure or interruption", () => {
    fc.assert(
      fc.property(anyTries, anyOutcome, chance, (given, outcome, luck) => {
        const decision = decide(given, outcome, luck);
        expect(isAllowed("RUNNING", decision.to)).toBe(true);
        expect(decision.failures + decision.interruptions).toBe(outcome.is === "success" ? 0 : 1);
        expect(decision.delayMs).toBeGreaterThanOrEqual(0);
        expect(decision.delayMs).toBeLessThanOrEqual(contractLimits.delayMsMax);
        expect(decision.errorCode === null).toBe(decision.to === "SUCCESS" || decision.to === "QUEUED");
      }),
    );
  });
});

const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const anyRetry = fc
  .record({
    maxAttempts: fc.integer({ min: 1, max: 1_000 }),
    backoff: fc.constantFrom("exponential" as const, "fixed" as const),
    baseMs: fc.integer({ min: 1, max: 3_600_000 }),
    over: fc.integer({ min: 0, max: 86_400_000 }),
    jitter: fc.boolean(),
  })
  .map(({ over, ...rest }): RetryPolicy => ({ ...rest, capMs: rest.baseMs + over }));
const anyTries = fc.record({
  failures: fc.integer({ min: 0, max: 1_000 }),
  interruptions: fc.integer({ min: 0, max: contractLimits.interruptionsMax }),
  maxAttempts: fc.integer({ min: 1, max: 1_000 }),
  retry: anyRetry,
  onAmbiguous: fc.constantFrom("retry" as const, "park" as const),
});
const error = { code: fc.constant("E"), message: fc.string() };
const anyOutcome = fc.oneof(
  fc.record({ is: fc.constant("success" as const), result: fc.constant(null) }),
  fc.record({ is: fc.constant("retryable" as const), ...error, afterMs: fc.option(fc.double()) }),
  fc.record({ is: fc.constant("permanent" as const), ...error }),
  fc.record({ is: fc.constant("ambiguous" as const), ...error }),
  fc.record({ is: fc.constant("released" as const), reason: fc.constant("stopped") }),
);

describe("the backoff", () => {
  test("without jitter it never shrinks, and it never passes the cap", () => {
    fc.assert(
      fc.property(anyRetry, fc.integer({ min: 0, max: 2_000 }), (policy, failures) => {
        const plain = { ...policy, jitter: false };
        const wait = backoffMs(plain, failures, 0);
        expect(wait).toBeLessThanOrEqual(policy.capMs);
        expect(backoffMs(plain, failures + 1, 0)).toBeGreaterThanOrEqual(wait);
      }),
    );
  });

  test("jitter stays in the upper half of the wait and spreads over it", () => {
    fc.assert(
      fc.property(anyRetry, fc.integer({ min: 0, max: 60 }), chance, (policy, failures, luck) => {
        const whole = backoffMs({ ...policy, jitter: false }, failures, 0);
        const spread = backoffMs({ ...policy, jitter: true }, failures, luck);
        expect(spread).toBeGreaterThanOrEqual(Math.floor(whole / 2));
        expect(spread).toBeLessThanOrEqual(whole);
      }),
    );
    const jittered = { ...retry, jitter: true };
    expect([0, 0.5, 0.999].map((luck) => backoffMs(jittered, 0, luck))).toEqual([500, 750, 1_000]);
  });
});
