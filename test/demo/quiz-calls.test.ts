import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { Answer, Call } from "../../examples/daily-quiz/input.ts";
import { ledgerFile } from "../../examples/fake/ledger.ts";
import { type Attempt, reconcile, type Target } from "./quiz-calls.ts";

const day = "2031-05-06";

interface Outcome {
  readonly attempts: readonly Attempt[];
  readonly answers: readonly Answer[];
  /** Of the last call, when it is not the target's own. */
  readonly strangeKey?: string;
}

/** Checks that fail for targets with these tries and calls. */
function failedFor(...outcomes: readonly Outcome[]): readonly string[] {
  const ledgers = mkdtempSync(join(tmpdir(), "belfry-calls-"));
  const db = new Pool();
  onTestFinished(() => rmSync(ledgers, { recursive: true }));
  const targets = outcomes.map(({ attempts, answers, strangeKey }, index): Target => {
    const jobId = String(index + 1);
    const calls = answers.map((outcome, n): Call => {
      const isLast = n === answers.length - 1;
      return { key: isLast && strangeKey !== undefined ? strangeKey : `${jobId}:push`, user: index + 1, day, outcome };
    });
    const row = { jobId, user: index + 1, day, status: "SENT", reason: null, failed: 0, lost: 0, early: false };
    return { ...row, attempts, calls };
  });
  const lines = targets.flatMap(({ calls }) => calls.map((call) => `${JSON.stringify(call)}\n`));
  writeFileSync(ledgerFile(ledgers, "daily-quiz-push"), lines.join(""));
  return reconcile(targets, { db, ledgers })
    .filter(({ pass }) => !pass)
    .map(({ name }) => name);
}

const success: Attempt = { outcome: "SUCCESS", code: null };
const busy: Attempt = { outcome: "FAILED", code: "HTTP_503" };
const lost: Attempt = { outcome: "LOST", code: "WORKER_LOST" };

test("calls and tries that say the same reconcile", () => {
  expect(failedFor({ attempts: [success], answers: ["sent"] })).toEqual([]);
  expect(failedFor({ attempts: [busy, success], answers: ["busy", "sent"] })).toEqual([]);
  expect(failedFor({ attempts: [lost, success], answers: ["sent", "repeated"] })).toEqual([]);
  expect(failedFor({ attempts: [lost, success], answers: ["sent"] })).toEqual([]);
});

test("a success that the push service knows nothing of is seen", () => {
  expect(failedFor({ attempts: [success], answers: [] })).toContain(
    "the push ledger reconciles with the books, call by call",
  );
});

test("a call that no try made is seen", () => {
  expect(failedFor({ attempts: [success], answers: ["sent", "repeated"] })).toEqual([
    "the push ledger reconciles with the books, call by call",
    "a call that was taken is repeated only where its answer did not come back",
  ]);
});

test("a second notification under another key is seen", () => {
  expect(failedFor({ attempts: [lost, success], answers: ["sent", "sent"], strangeKey: "1:other" })).toEqual([
    "each target has one idempotency key",
  ]);
});
