import { expect, test } from "vitest";
import { decide, type AttemptCounters } from "../../src/core/job/decide.ts";
import type { FailureDetail } from "../../src/core/job/job.ts";

const counters: AttemptCounters = {
  failures: 0,
  interruptions: 0,
  maxAttempts: 3,
  retry: { maxAttempts: 3, backoff: "fixed", baseMs: 7_000, capMs: 60_000, jitter: false },
  onAmbiguous: "retry",
};
const error = { code: "BUSY", message: "busy" };
const year = 366 * 86_400_000;

test.each<[number | null, retryMs: number, postponedMs: number]>([
  [null, 7_000, 0],
  [0, 0, 0],
  [0.5, 0.5, 0.5],
  [1, 1, 1],
  [-1, 7_000, 0],
  [Number.NaN, 7_000, 0],
  [Infinity, 7_000, 0],
  [-Infinity, 7_000, 0],
  [year - 1, year - 1, year - 1],
  [year, year, year],
  [year + 1, year, year],
])("a wait of %s ms that is asked for", (afterMs, retryMs, postponedMs) => {
  expect(decide(counters, { is: "retryable", ...error, afterMs }, 0).delayMs).toBe(retryMs);
  const postponed = { is: "postponed", ...error, afterMs: afterMs ?? 0, counted: false } as const;
  expect(decide(counters, postponed, 0).delayMs).toBe(postponedMs);
});

test("a decision has the detail of its failure, and no such field without one", () => {
  const detail: FailureDetail = { stack: "at a", causes: [], response: null, log: [] };
  expect(decide(counters, { is: "permanent", ...error, detail }, 0).detail).toBe(detail);
  expect(Object.keys(decide(counters, { is: "permanent", ...error }, 0))).not.toContain("detail");
});
