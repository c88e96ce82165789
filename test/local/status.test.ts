import { expect, it } from "vitest";
import type { JobView } from "../../src/core/job/job.ts";
import { operationsLimits } from "../../src/core/ports/operations-limits.ts";
import { statusLine } from "../../src/local/status.ts";

const none = {
  PENDING: 0,
  QUEUED: 0,
  RUNNING: 0,
  RETRY_WAIT: 0,
  SUCCESS: 0,
  FAILED: 0,
  CANCELED: 0,
  SKIPPED: 0,
  notYetDue: 0,
};

it("shows what is scheduled ahead apart from what is queued", () => {
  const counts = { ...none, PENDING: 4, QUEUED: 3, RETRY_WAIT: 1, RUNNING: 1, SUCCESS: 128, notYetDue: 5 };
  expect(statusLine({ counts, last: null, passAgeMs: null })).toBe(
    "5 scheduled ahead  3 queued  1 running  128 success",
  );
});

it("says that a number is only the most it counts", () => {
  const counts = { ...none, SUCCESS: operationsLimits.countedRowsMax };
  expect(statusLine({ counts, last: null, passAgeMs: null })).toBe(`${operationsLimits.countedRowsMax}+ success`);
});

it("ends with the job that ended last, and its error", () => {
  const last = { kind: "mail", id: "7", state: "FAILED", errorCode: "SMTP_550" } as JobView;
  expect(statusLine({ counts: none, last, passAgeMs: 1_000 })).toBe("no jobs yet  |  last: mail 7 FAILED (SMTP_550)");
});

it("the line begins with the scheduler's silence once that is too long", () => {
  const passAgeMs = operationsLimits.passAgeMsMax + 60_000;
  expect(statusLine({ counts: none, last: null, passAgeMs })).toBe("no pass for 240 s  |  no jobs yet");
});
