/** Lanes, workers, locks and dead letters of the fake API. */
import type { AuditListReply, LaneReply, LockReply } from "../../src/api/shape/overview.ts";
import type { FailureGroupListReply } from "../../src/insight/failure-groups.ts";
import type { WorkerReply } from "../../src/insight/workers.ts";
import { ago, notPaused, summary } from "./scene.ts";

const samples = [5, 4, 3].map((job) => ({ job: String(job), at: ago(60), message: `of job ${job}` }));

type FailureGroup = FailureGroupListReply["groups"][number];

export const groups: readonly FailureGroup[] = [
  group("a1", "send-open-mail", "HTTP_503", "the mail server answered 503 Service Unavailable", 42),
  group("b2", "export-report", "ENOSPC", "no space left on device", 3),
];

function group(fingerprint: string, kind: string, errorCode: string, errorMessage: string, jobs: number): FailureGroup {
  return {
    fingerprint,
    kind,
    errorCode,
    errorMessage,
    jobs,
    firstAt: ago(9_000),
    lastAt: ago(60),
    newest: "5",
    samples,
  };
}

const held = { slot: 2, paused: 0, predecessors: 1 };
const free = {
  ...notPaused,
  retrying: 1,
  scheduled: 38,
  concurrency: 5,
  batchSize: 10,
  atLeast: [],
};

export const lanes: readonly LaneReply[] = [
  { name: "default", ...free, waiting: 12, running: 6, oldestWaitingMs: 90_000, held },
  {
    name: "mail",
    ...free,
    waiting: 0,
    running: 2,
    oldestWaitingMs: null,
    held,
    paused: true,
    pausedBy: "ana",
    pausedAt: ago(60),
  },
];

const cap = {
  key: "cap:export-report",
  size: 5,
  taken: 5,
  waiting: 2,
  windowMs: null,
  holders: [{ job: "3", kind: "export-report", since: ago(20) }],
};
export const caps = [cap];
export const jobLocks = [{ ...cap, key: "lock:scheduler:outbox-retry", size: 1, taken: 1 }];

export const workers: readonly WorkerReply[] = (["busy", "idle", "silent", "lost"] as const).map((status, index) => ({
  id: `worker-${index}`,
  lane: "default",
  version: "1.4.0",
  status,
  startedAt: ago(900),
  seenAt: ago(index * 30),
  ended: 120,
  failed: index,
  lost: status === "lost" ? 1 : 0,
  lostAt: null,
  running:
    status === "busy"
      ? [
          {
            job: "2",
            kind: "export-report",
            attempt: 1,
            progress: 0.4,
            startedAt: ago(20),
            beatAt: ago(3),
            leaseUntil: ago(-17),
          },
        ]
      : [],
}));

export const locks: readonly LockReply[] = [
  {
    name: "scheduler",
    holder: "task-1",
    fence: 41,
    leaseMs: 10_000,
    installedAt: ago(20),
    fallback: null,
    isStoreUp: true,
  },
  {
    name: "rule:nightly",
    holder: null,
    fence: 7,
    leaseMs: 10_000,
    installedAt: ago(900),
    fallback: null,
    isStoreUp: true,
  },
  {
    name: "rule:sweep",
    holder: null,
    fence: 9,
    leaseMs: null,
    installedAt: ago(30),
    fallback: { owner: "task-2", leaseUntil: ago(-10) },
    isStoreUp: false,
  },
];

export const audits: readonly AuditListReply["audits"][number][] = [
  {
    id: "2",
    at: ago(60),
    caller: "ana",
    role: null,
    session: null,
    action: "POST /schedules/:id/pause",
    target: "/schedules/nightly-export/pause",
    status: 200,
    detail: { reason: "the source is being moved" },
    trace: "t-2",
  },
];

const noJobs = { PENDING: 0, QUEUED: 0, RUNNING: 0, RETRY_WAIT: 0 };
export const emptySummary = {
  ...summary,
  live: { total: 0, byState: noJobs, waiting: 0, scheduled: 0, held: 0, oldestWaitingMs: null, isMore: false },
  deadLetters: { count: 0, isMore: false },
  lastHour: { created: 0, succeeded: 0, failed: 0, retried: 0, canceled: 0, skipped: 0, lost: 0, meanRunMs: null },
  lanes: { total: 1, paused: 0 },
  workers: { busy: 0, lost: 0 },
  lastPass: null,
  lastFailures: [],
  minutes: [],
  schedules: { failing: { total: 0, first: null }, late: { total: 0, first: null } },
};

export const neverPlanned = {
  schedule: "nightly-export",
  localTime: "2026-11-20T03:00",
  timezone: "Asia/Seoul",
  version: 3,
  verdict: "not-yet-existing",
  sentence: "The schedule did not exist yet.",
  advice: "It fires from its first day on.",
  occurrence: null,
  job: null,
};
