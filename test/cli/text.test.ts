import { expect, test } from "vitest";
import type { JobDetailReply } from "../../src/api/shape/job.ts";
import { jobText } from "../../src/cli/text.ts";

const job: JobDetailReply = {
  id: "7",
  kind: "long",
  run: null,
  task: null,
  heldOn: null,
  payloadBytes: 4,
  interruptions: 0,
  progress: null,
  scheduledFor: null,
  startedAt: null,
  leaseUntil: null,
  key: null,
  state: "RUNNING",
  phase: "running",
  lane: "default",
  attempt: 1,
  failures: 0,
  maxAttempts: 4,
  payload: null,
  result: null,
  error: null,
  worker: "task/0a1b2c:17:d4",
  trace: "t",
  schedule: null,
  createdAt: "2026-11-21T08:00:00.000Z",
  dueAt: "2026-11-21T08:00:00.000Z",
  finishedAt: null,
  attempts: [],
  events: [],
};

test("a job that runs says where, and one that does not run says nothing of it", () => {
  expect(jobText(job, false)).toContain("runs on   task/0a1b2c:17:d4");
  expect(jobText({ ...job, state: "QUEUED", worker: null }, false)).not.toContain("runs on");
});
