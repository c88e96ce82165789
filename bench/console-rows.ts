/** What the page of the bench is answered: rows that the API could give, made at once. */
import type { JobReply } from "../src/api/shape/job.ts";
import type { RunMapReply } from "../src/api/shape/run.ts";
import type { ScheduleOutcomeReply } from "../src/api/shape/schedule-outcome.ts";
import { aJobDetail } from "../test/support/job-detail.ts";

const at = new Date().toISOString();
const { attempts: _attempts, events: _events, ...job } = aJobDetail;

export const jobOf = (id: number): JobReply => ({ ...job, id: String(id), state: id % 3 === 0 ? "SUCCESS" : "FAILED" });

const last = Array.from({ length: 30 }, (_, n) => ({
  at,
  outcome: "FIRED" as const,
  reason: null,
  job: String(n),
  result: n % 4 === 1 ? ("failed" as const) : ("succeeded" as const),
  error: null,
}));

export const scheduleOf = (n: number): ScheduleOutcomeReply => ({
  id: `schedule-${n}`,
  app: "scene",
  kind: "export-report",
  version: 3,
  source: "code",
  expression: "0 8 * * *",
  timezone: "Asia/Seoul",
  enabled: true,
  paused: false,
  pausedBy: null,
  pausedAt: null,
  pausedUntil: null,
  pauseReason: null,
  overlap: "skip",
  misfire: "latest",
  decidedUntil: at,
  nextAt: at,
  looksAt: at,
  last,
  failingSince: null,
  failingSinceIsMore: false,
  lastSuccessAt: at,
  onTimeShare: 0.96,
  latenessMs: 120,
});

const run: RunMapReply["run"] = {
  id: "7",
  kind: "load",
  key: "2026-11-20",
  version: 3,
  shape: "f3a1",
  state: "FAILED",
  sealed: true,
  onFailure: "skip-downstream",
  tolerate: 0,
  then: null,
  stopped: false,
  parent: null,
  starter: null,
  input: null,
  progress: {
    total: 10_000,
    ready: 0,
    waiting: 0,
    running: 0,
    done: 10_000,
    ok: 9_990,
    failed: 1,
    skipped: 9,
    canceled: 0,
    percent: 100,
  },
  createdAt: at,
  finishedAt: at,
};

/** A run of this many tasks in layers of 1,000; one failed and those behind it were skipped. */
export function largeMap(total: number): RunMapReply {
  const all = Array.from({ length: total }, (_, n) => n);
  const isLost = (n: number): boolean => n % 1_000 === 17;
  return {
    run,
    jobs: all.map(String),
    names: all.map((n) => `load-partition-of-table-orders-${String(n).padStart(5, "0")}`),
    states: all.map((n) => (n === 17 ? "FAILED" : isLost(n) ? "SKIPPED" : "SUCCESS")),
    started: all.map((n) => (isLost(n) ? null : Math.floor(n / 10) * 100)),
    finished: all.map((n) => (isLost(n) ? null : Math.floor(n / 10) * 100 + 60 + (n % 7) * 20)),
    attempts: all.map((n) => (isLost(n) ? 0 : 1)),
    errors: all.map((n) => (n === 17 ? "TIMEOUT" : null)),
    open: all.map(() => 0),
    signals: [],
    notTaken: [],
    rows: [],
    edges: all.slice(1_000).map((n) => [n - 1_000, n]),
    from: at,
    isMore: false,
    failed: [],
  };
}
