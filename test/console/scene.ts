/** What a fake API answers: the same shapes as the real one, held to them by the types. */
import type { AttemptDetailReply, JobCountsReply, JobDetailReply, JobReply } from "../../src/api/shape/job.ts";
import type { KindFigureListReply } from "../../src/insight/kind-figures.ts";
import type { SummaryReply } from "../../src/api/shape/overview.ts";
import type { ScheduleOutcomeReply } from "../../src/api/shape/schedule-outcome.ts";
import type { OccurrenceEndReply } from "../../src/insight/occurrence-ends.ts";
import type { ScheduleReply } from "../../src/api/shape/schedule.ts";
import type { UpcomingReply } from "../../src/api/shape/upcoming.ts";
import { type JobState, jobStates } from "../../src/console/jobs/state.ts";

export const sceneNow = Date.now();
export const ago = (seconds: number): string => new Date(sceneNow - seconds * 1_000).toISOString();

export const notPaused = { paused: false, pausedBy: null, pausedAt: null, pausedUntil: null, pauseReason: null };

export function jobOf(id: number, state: JobState = jobStates[id % jobStates.length] ?? "PENDING"): JobReply {
  const started = state !== "PENDING" && state !== "QUEUED" && state !== "SKIPPED";
  const ended = ["SUCCESS", "FAILED", "CANCELED", "SKIPPED"].includes(state);
  const failed = state === "FAILED" || state === "RETRY_WAIT";
  return {
    id: String(id),
    kind: id % 3 === 0 ? "export-report" : "send-open-mail",
    key: id % 2 === 0 ? `report:${id}:csv` : null,
    state,
    phase: state.toLowerCase(),
    lane: id % 3 === 0 ? "default" : "mail",
    attempt: started ? 2 : 0,
    failures: failed ? 2 : 0,
    interruptions: 0,
    maxAttempts: 4,
    payload: { reportId: id, format: "csv" },
    result: state === "SUCCESS" ? { rows: 12 } : null,
    progress: state === "RUNNING" ? 0.4 : null,
    error: failed ? { code: "HTTP_503", message: "the mail server answered 503 Service Unavailable" } : null,
    worker: started ? "w-7f3a" : null,
    trace: "0b5c2f",
    schedule: id % 3 === 0 ? "nightly-export" : null,
    scheduledFor: null,
    effectiveAt: null,
    createdAt: ago(400),
    dueAt: state === "PENDING" ? ago(-3_600) : ago(390),
    startedAt: started ? ago(120) : null,
    leaseUntil: state === "RUNNING" ? ago(-12) : null,
    finishedAt: ended ? ago(60) : null,
    run: null,
    task: null,
    followsRun: null,
    heldOn: null,
    payloadBytes: 40,
  };
}

export function detailOf(id: number, state: JobState): JobDetailReply {
  const job = jobOf(id, state);
  const event = (at: number, from: JobState | null, to: JobState, attempt: number) => {
    return {
      id: String(1_000 - at),
      at: ago(at),
      from,
      to,
      attempt,
      generation: attempt,
      worker: "w-7f3a",
      reason: null,
      caller: null,
    };
  };
  const last: JobState = state === "QUEUED" || state === "PENDING" ? "RUNNING" : state;
  return {
    ...job,
    attempts: [
      {
        attempt: 1,
        worker: "w-7f3a",
        startedAt: ago(380),
        endedAt: ago(370),
        durationMs: 10_000,
        outcome: "FAILED",
        error: { code: "HTTP_503", message: "first" },
      },
    ],
    events: [
      event(400, null, "PENDING", 0),
      event(390, "PENDING", "QUEUED", 0),
      event(380, "QUEUED", "RUNNING", 1),
      event(370, "RUNNING", "RETRY_WAIT", 1),
      event(130, "RETRY_WAIT", "QUEUED", 1),
      event(120, "QUEUED", "RUNNING", 2),
      event(60, "RUNNING", last, 2),
    ],
  };
}

export const schedules: readonly ScheduleReply[] = [
  schedule("nightly-export", "0 8 * * *", "Asia/Seoul", ago(-3_600)),
  schedule("sweep", "* * * * *", "UTC", ago(-30)),
  { ...schedule("outbox-retry", "every 5m", "UTC", ago(-90)), paused: true },
  schedule("late-one", "cron(0 10 ? * 2-6 *)", "Europe/Berlin", ago(900)),
];

function schedule(id: string, expression: string, timezone: string, nextAt: string): ScheduleReply {
  return {
    id,
    app: "scene",
    kind: "export-report",
    version: 3,
    source: "code",
    expression,
    timezone,
    enabled: true,
    ...notPaused,
    overlap: "skip",
    misfire: "latest",
    decidedUntil: ago(-300),
    nextAt,
    looksAt: nextAt,
  };
}

const outcomes = ["PLANNED", "FIRED", "FIRED", "SKIPPED", "CAUGHT_UP", "COALESCED"] as const;

const goodEnd: OccurrenceEndReply = {
  state: "SUCCESS",
  phase: "success",
  run: null,
  result: "succeeded",
  startedAt: ago(3_600),
  finishedAt: ago(3_598),
  tookMs: 2_000,
  error: null,
  reason: null,
};
const failedEnd: OccurrenceEndReply = {
  ...goodEnd,
  state: "FAILED",
  phase: "failed",
  result: "failed",
  error: { code: "HTTP_503", message: "the mail server answered 503" },
};

export const occurrences: NonNullable<ScheduleOutcomeReply["times"]>["occurrences"] = Array.from(
  { length: 30 },
  (_, index) => {
    const outcome = outcomes[index % outcomes.length] ?? "FIRED";
    return {
      schedule: "nightly-export",
      localTime: `2026-11-${String(21 - Math.floor(index / 2)).padStart(2, "0")}T0${index % 2}:00`,
      fold: 0,
      timezone: "Asia/Seoul",
      nominalAt: ago(index * 3_600 - 600),
      effectiveAt: null,
      outcome,
      reason: outcome === "SKIPPED" ? "overlap" : null,
      calendar: null,
      decidedAt: outcome === "PLANNED" ? null : ago(index * 3_600),
      latenessMs: outcome === "FIRED" ? 120 + index : null,
      version: 3,
      jobId: outcome === "FIRED" ? String(100 + index) : null,
      end: outcome === "FIRED" ? (index % 4 === 1 ? failedEnd : goodEnd) : null,
    };
  },
);

/** Each schedule with the occurrences above; the first fails, the second does not. */
export const outcomeRows: readonly ScheduleOutcomeReply[] = schedules.map((schedule, index) => ({
  ...schedule,
  last: occurrences.map(({ nominalAt, outcome, reason, jobId, end }) => ({
    at: nominalAt,
    outcome,
    reason,
    job: jobId,
    result: end?.result ?? null,
    error: end?.error?.code ?? null,
  })),
  failingSince: index === 0 ? ago(7_200) : null,
  failingSinceIsMore: false,
  lastSuccessAt: ago(10_800),
  onTimeShare: 0.96,
  latenessMs: 120,
}));

const minutes: SummaryReply["minutes"] = Array.from({ length: 60 }, (_, index) => ({
  at: ago((59 - index) * 60),
  created: 10,
  started: 10,
  succeeded: 8 + (index % 7),
  failed: index % 20 === 0 ? 3 : 0,
  retried: index % 9 === 0 ? 2 : 0,
  canceled: 0,
  skipped: index % 30 === 0 ? 1 : 0,
  lost: 0,
  meanRunMs: 80,
}));

export const summary: SummaryReply = {
  at: new Date(sceneNow).toISOString(),
  live: {
    total: 64,
    byState: { PENDING: 40, QUEUED: 12, RUNNING: 8, RETRY_WAIT: 4 },
    waiting: 12,
    scheduled: 38,
    held: 3,
    oldestWaitingMs: 90_000,
    isMore: false,
    atLeast: [],
  },
  deadLetters: { count: 10_000, isMore: true },
  lastHour: { created: 900, succeeded: 850, failed: 12, retried: 31, canceled: 2, skipped: 9, lost: 0, meanRunMs: 84 },
  lanes: { total: 2, paused: 1 },
  workers: { busy: 2, lost: 1 },
  lastPass: { at: ago(2), ageMs: 2_000, isLate: false },
  lastFailures: Array.from({ length: 8 }, (_, index) => jobOf(140 - index)),
  minutes,
  schedules: {
    failing: { total: 1, isMore: false, first: outcomeRows[0]?.id ?? null },
    late: { total: 0, isMore: false, first: null },
  },
};

export const counts: JobCountsReply = Object.fromEntries(
  jobStates.map((state, index) => [state, { count: index === 4 ? 1_000 : index, isMore: index === 4 }]),
) as JobCountsReply;
export const noCounts: JobCountsReply = Object.fromEntries(
  jobStates.map((state) => [state, { count: 0, isMore: false }]),
) as JobCountsReply;

export const upcoming: UpcomingReply = {
  from: ago(0),
  to: ago(-3_600),
  times: [60, 120, 900].map((seconds, index) => ({
    at: ago(-seconds),
    nominalAt: ago(-seconds),
    schedule: index === 0 ? "sweep" : "nightly-export",
    app: "scene",
    kind: "export-report",
    lane: "default",
    timezone: "UTC",
    paused: index === 2,
    mayOverlap: index === 1,
    capped: false,
  })),
  jobs: [
    { schedule: "nightly-export", kind: "push", lane: "default", jobs: 178, firstAt: ago(-300), lastAt: ago(-300) },
  ],
  parts: Array.from({ length: 60 }, (_, part) => (part % 7) + 1),
  lanes: [
    {
      lane: "default",
      times: 3,
      jobs: 178,
      unknown: 0,
      expectedMs: 90_000,
      capacityMs: 3_600_000,
      busiest: { at: ago(-60), share: 0.4 },
    },
  ],
  apps: ["scene"],
  isMore: false,
};

export const attempt: AttemptDetailReply = {
  kind: "send-open-mail",
  attempt: 1,
  dueAt: ago(390),
  sentAt: ago(389),
  startedAt: ago(380),
  endedAt: ago(370),
  logGroup: { region: "eu-west-1", name: "belfry-prod-WorkerMailLog" },
  failure: {
    stack: "Error: the mail server answered 503\n    at send (file:///app/jobs/mail.ts:12:9)",
    causes: ["Error: socket hang up\n    at connResetException (node:internal/errors:720:14)"],
    response: { status: 503, body: "try later" },
    log: [{ atMs: 120, level: "info", text: 'opened the connection {"host":"mail"}' }],
  },
};

const some = {
  ...{ ended: 900, failed: 3 },
  waitingMs: { p50: 4, p95: 40, p99: 90 },
  runningMs: { p50: 80, p95: 900, p99: 4_000 },
};
export const kindFigures: KindFigureListReply = {
  period: { from: ago(604_800), to: ago(0) },
  before: { from: ago(1_209_600), to: ago(604_800) },
  kinds: [
    {
      kind: "send-open-mail",
      lane: "mail",
      now: some,
      before: { ...some, runningMs: { p50: 40, p95: 300, p99: 900 } },
    },
    {
      kind: "export-report",
      lane: "default",
      now: { ...some, failed: 90 },
      before: { ...some, ended: 0, runningMs: null },
    },
  ],
  isMore: false,
};
