import type { RunMapReply, RunReply, TaskReply } from "../../src/api/shape/run.ts";
import type { JobState } from "../../src/console/jobs/state.ts";
import { ago } from "./scene.ts";

export const run: RunReply = {
  id: "7",
  kind: "settlement",
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
  starter: "90",
  input: { day: "2026-11-20" },
  progress: {
    total: 6,
    ready: 0,
    waiting: 1,
    running: 1,
    done: 4,
    ok: 2,
    failed: 1,
    skipped: 1,
    canceled: 0,
    percent: 66,
  },
  createdAt: ago(500),
  finishedAt: ago(100),
};

const taskStates: readonly JobState[] = ["SUCCESS", "SUCCESS", "FAILED", "SKIPPED", "PENDING", "RUNNING"];
const names = ["orders", "refunds", "match", "review", "publish", "notify"];

export const tasks: readonly TaskReply[] = taskStates.map((state, index) => ({
  job: String(200 + index),
  task: names[index] ?? null,
  kind: `settlement.${names[index]}`,
  key: null,
  state,
  blocked: state === "PENDING",
  notTaken: false,
  atLeast: null,
  join: "all",
  predecessors: { open: state === "PENDING" ? 1 : 0, ok: 1, bad: state === "SKIPPED" ? 1 : 0 },
  after: index < 2 ? [] : index === 2 ? ["200", "201"] : [String(199 + index)],
  afterTotal: index < 2 ? 0 : 1,
  attempt: state === "PENDING" || state === "SKIPPED" ? 0 : 1,
  failures: state === "FAILED" ? 1 : 0,
  maxAttempts: 4,
  result: null,
  error: state === "FAILED" ? { code: "MISMATCH", message: "3 orders have no refund" } : null,
  startedAt: state === "PENDING" || state === "SKIPPED" ? null : ago(400 - index * 40),
  finishedAt: state === "SUCCESS" || state === "FAILED" ? ago(330 - index * 40) : null,
}));

/** The tasks above as the picture of the whole run has them. */
export const runMap: RunMapReply = mapOf(
  tasks.map((task) => ({ job: task.job, name: task.task, state: task.state, error: task.error?.code ?? null })),
  tasks.flatMap(({ after }, to): [number, number][] => after.map((job) => [Number(job) - 200, to])),
);

/** A run of this many tasks in layers of 1,000; one failed and those behind it were skipped. */
export function largeMap(total: number): RunMapReply {
  const names = Array.from({ length: total }, (_, n) => ({
    job: String(1_000 + n),
    name: `load-partition-of-table-orders-${String(n).padStart(5, "0")}`,
    state: n === 17 ? ("FAILED" as const) : n % 1_000 === 17 ? ("SKIPPED" as const) : ("SUCCESS" as const),
    error: n === 17 ? "TIMEOUT" : null,
  }));
  return mapOf(
    names,
    names.flatMap((_, n): [number, number][] => (n < 1_000 ? [] : [[n - 1_000, n]])),
  );
}

interface Named {
  readonly job: string;
  readonly name: string | null;
  readonly state: JobState;
  readonly error: string | null;
}

function mapOf(named: readonly Named[], edges: [number, number][]): RunMapReply {
  const ran = (state: JobState): boolean => state === "SUCCESS" || state === "FAILED";
  return {
    jobs: named.map(({ job }) => job),
    names: named.map(({ name }) => name),
    states: named.map(({ state }) => state),
    started: named.map(({ state }, n) => (ran(state) || state === "RUNNING" ? Math.floor(n / 10) * 100 : null)),
    finished: named.map(({ state }, n) => (ran(state) ? Math.floor(n / 10) * 100 + 60 + (n % 7) * 20 : null)),
    attempts: named.map(({ state }) => (ran(state) ? 1 : 0)),
    errors: named.map(({ error }) => error),
    open: named.map(({ state }) => (state === "PENDING" ? 1 : 0)),
    signals: [],
    notTaken: [],
    rows: [],
    edges,
    from: ago(400),
    isMore: false,
    run: { ...run, progress: { ...run.progress, total: named.length } },
    failed: tasks.filter(({ state }) => state === "FAILED"),
  };
}
