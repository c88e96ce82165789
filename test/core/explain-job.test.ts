import { expect, test } from "vitest";
import { explainJob } from "../../src/core/admin/explain-job.ts";
import type { JobId, JobView, RunId } from "../../src/core/job/job.ts";
import type { WaitingFacts } from "../../src/core/ports/waiting.ts";

const now = Date.UTC(2026, 10, 21, 9);

const job: JobView = {
  id: "7" as JobId,
  kind: "k",
  key: null,
  state: "QUEUED",
  lane: "default",
  hold: "none",
  generation: 1,
  attempt: 0,
  failures: 0,
  interruptions: 0,
  maxAttempts: 4,
  payload: null,
  result: null,
  progress: null,
  errorCode: null,
  errorMessage: null,
  worker: null,
  trace: "t",
  scheduleId: null,
  scheduledFor: null,
  createdAt: now,
  dueAt: now,
  startedAt: null,
  leaseUntil: null,
  finishedAt: null,
  runId: null,
  task: null,
  blocked: false,
  heldOn: null,
  slotKeys: [],
  payloadBytes: 4,
};

const facts: WaitingFacts = {
  lanePause: null,
  schedule: null,
  openPredecessors: 0,
  predecessors: [],
  ahead: { count: 3, isMore: false },
  heldBefore: { count: 0, isMore: false },
  runningInLane: { count: 2, isMore: false },
  workerSeenAt: now,
  failedFirst: null,
  lastReason: null,
};

const sentence = (over: Partial<JobView>, more: Partial<WaitingFacts> = {}): string =>
  explainJob({ ...job, ...over }, { ...facts, ...more }, { now, slot: null }).sentence;

test("a queued job names what is before it and what runs in its lane, as far as that was counted", () => {
  expect(sentence({})).toBe("it is queued in lane default behind 3; 2 run there now");
  const many = { ahead: { count: 1_000, isMore: true }, runningInLane: { count: 20, isMore: true } };
  expect(sentence({}, many)).toBe("it is queued in lane default behind more than 1000; more than 20 run there now");
  const unseen = { runningInLane: { count: 0, isMore: true }, workerSeenAt: null };
  expect(sentence({ dueAt: now - 60_000, createdAt: now - 60_000 }, unseen)).toBe(
    "it is queued in lane default behind 3",
  );
});

test("a job that failed itself says its own error, whatever became of the run that it had started", () => {
  const failedFirst = { jobId: "9" as JobId, runId: "4" as RunId, task: "load", errorCode: "DOWN" };
  const failed = { state: "FAILED", errorCode: "BROKEN", finishedAt: now } as const;
  expect(sentence(failed, { failedFirst })).toBe("it ended as FAILED at 2026-11-21T09:00:00.000Z (BROKEN)");
  expect(sentence({ ...failed, state: "SUCCESS" }, { failedFirst })).toContain("run 4 that it started is FAILED");
});
