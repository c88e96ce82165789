import type { JobId, Json, RunId } from "../../core/job/job.ts";
import { runLimits } from "../../core/ports/run-limits.ts";
import type { InRun, RunStore, RunView, TaskOutput, TaskView } from "../../core/ports/ports.ts";
import type { Session } from "./session.ts";
import { readInRuns, readRun, readRuns, readTasks, type RunViewRow, type TaskRow } from "./sql/run-read.ts";

export function runReadStore(session: Session): Pick<RunStore, "inRuns" | "run" | "runs" | "tasks"> {
  return {
    async inRuns(ids) {
      return (await inRuns(session, ids)) as ReadonlyMap<JobId, InRun>;
    },
    async run(id) {
      const [row] = await session.run(readRun, [id]);
      return row === undefined ? null : runView(row);
    },
    async runs({ kinds, key, states, before, parentId, limit }) {
      const filter = [kinds ?? null, key ?? null, states ?? null, before ?? null, limit, parentId ?? null];
      const rows = await session.run(readRuns, filter);
      return rows.map(runView);
    },
    async tasks(runId, { after, states, limit }) {
      const filter = [runId, after ?? "0", limit, states ?? null, runLimits.edgesShownMax];
      return (await session.run(readTasks, filter)).map(taskView);
    },
  };
}

/** What jobs know about their runs, by job id. Outputs are final, so they are read without a lock. */
export async function inRuns(session: Session, ids: readonly string[]): Promise<ReadonlyMap<string, InRun>> {
  if (ids.length === 0) return new Map();
  const rows = await session.run(readInRuns, [ids]);
  return new Map(
    rows.map((row): [string, InRun] => [
      row.id,
      {
        runId: row.run_id as RunId,
        kind: row.kind,
        key: row.key,
        version: row.version,
        input: row.input as Json,
        task: row.task,
        row: (row.condition_row ?? null) as Json | null,
        outputs: (row.outputs ?? {}) as Readonly<Record<string, TaskOutput>>,
      },
    ]),
  );
}

const runView = (row: RunViewRow): RunView => ({
  id: row.id as RunId,
  kind: row.kind,
  key: row.key,
  version: row.version,
  shape: row.shape,
  state: row.state,
  onFailure: row.on_failure,
  stopped: row.stopped,
  sealed: row.sealed,
  parentId: row.parent_id as RunId | null,
  starterId: row.starter_id as JobId | null,
  input: row.input as Json,
  total: row.total,
  ready: row.ready,
  waiting: row.waiting,
  running: row.running,
  done: row.done,
  ok: row.ok,
  failed: row.failed,
  skipped: row.skipped,
  percent: row.percent,
  createdAt: row.created_at,
  finishedAt: row.finished_at,
});

const taskView = (row: TaskRow): TaskView => ({
  jobId: row.id as JobId,
  task: row.task,
  kind: row.kind,
  key: row.key,
  state: row.state,
  blocked: row.blocked,
  notTaken: row.not_taken,
  join: row.join_rule,
  after: (row.after ?? []) as JobId[],
  afterTotal: row.after_total,
  preds: { open: row.preds_open, ok: row.preds_ok, bad: row.preds_bad },
  attempt: row.attempt,
  failures: row.failures,
  maxAttempts: row.max_attempts,
  result: (row.result ?? null) as Json | null,
  errorCode: row.error_code,
  errorMessage: row.error_message,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
});
