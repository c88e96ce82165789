import type { JobDetailReply } from "../../src/api/shape/job.ts";

const at = "2026-11-20T08:00:00.000Z";

/** A job that runs, as `GET /jobs/{id}` answers. */
export const aJobDetail: JobDetailReply = {
  id: "7",
  kind: "send-open-mail",
  key: "report:7:csv",
  state: "RUNNING",
  phase: "running",
  lane: "mail",
  attempt: 1,
  failures: 0,
  interruptions: 0,
  maxAttempts: 4,
  payload: { reportId: 7, format: "csv" },
  result: null,
  progress: null,
  error: null,
  worker: "w",
  trace: "0b5c2f",
  schedule: null,
  scheduledFor: null,
  effectiveAt: null,
  createdAt: at,
  dueAt: at,
  startedAt: at,
  leaseUntil: at,
  finishedAt: null,
  run: null,
  task: null,
  followsRun: null,
  heldOn: null,
  payloadBytes: 40,
  attempts: [],
  events: [],
};
