import { expect, test } from "vitest";
import { explainJob } from "../../src/core/admin/explain-job.ts";
import type { JobId, JobView, RunId } from "../../src/core/job/job.ts";
import type { WaitingFacts } from "../../src/core/ports/waiting.ts";
import { aJob } from "./explain/facts.ts";

const now = Date.UTC(2026, 10, 21, 9);

const job = aJob({
  id: "7" as JobId,
  kind: "k",
  state: "QUEUED",
  lane: "default",
  attempt: 0,
  scheduleId: null,
  scheduledFor: null,
  createdAt: now,
  dueAt: now,
});

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
  const lost = { ...failed, errorCode: "WORKER_LOST", errorMessage: "its process exited with code 7" };
  expect(sentence(lost)).toContain("(WORKER_LOST: its process exited with code 7)");
  expect(sentence({ ...failed, state: "SUCCESS" }, { failedFirst })).toContain("run 4 that it started is FAILED");
});

/** Ten seconds: after so long without a worker, that is the cause. */
const patienceMs = 10_000;
const times = [patienceMs - 1, patienceMs, patienceMs + 1];

const combinations = times.flatMap((dueMs) =>
  times.flatMap((createdMs) =>
    [null, ...times].flatMap((unseenMs) =>
      [0, 1].flatMap((count) => [false, true].map((isMore) => ({ dueMs, createdMs, unseenMs, count, isMore }))),
    ),
  ),
);

test("no worker is the cause only after ten seconds of both, and where none can be running", () => {
  for (const each of combinations) {
    const { dueMs, createdMs, unseenMs, count, isMore } = each;
    const workerSeenAt = unseenMs === null ? null : now - unseenMs;
    const said = sentence(
      { dueAt: now - dueMs, createdAt: now - createdMs },
      { runningInLane: { count, isMore }, workerSeenAt },
    );
    const isLong = dueMs > patienceMs && createdMs > patienceMs && (unseenMs === null || unseenMs > patienceMs);
    const seen = workerSeenAt === null ? "was ever seen" : "was seen since 2026-11-21T08:59:49.999Z";
    const some = isMore ? "; more than 1 run there now" : "; 1 run there now";
    const none = isMore ? "" : "; 0 run there now";
    const want =
      isLong && count === 0 && !isMore
        ? `its message is out, but no worker of lane default ${seen}`
        : `it is queued in lane default behind 3${count === 0 ? none : some}`;
    expect({ ...each, said }).toEqual({ ...each, said: want });
  }
});

test("an error of an attempt explains the wait only of a job that has had one", () => {
  const error = { errorMessage: "it did not start", dueAt: now + 1_000 };
  const verdict = (attempt: number, errorCode: string): string =>
    explainJob({ ...job, ...error, attempt, errorCode }, facts, { now, slot: null }).cause;
  expect(verdict(1, "TASK_NOT_STARTED")).toBe("not-started");
  expect(verdict(1, "UNKNOWN_KIND")).toBe("unknown-kind");
  expect(verdict(0, "TASK_NOT_STARTED")).toBe("not-due");
  expect(verdict(0, "UNKNOWN_KIND")).toBe("not-due");
});
