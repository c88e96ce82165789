import { iso } from "../../core/job/units.ts";
import { z } from "zod";
import { failurePolicies, type RunView, type TaskView } from "../../core/ports/run.ts";
import { count, failure, idText, maybeIso, maybeTime, state, time } from "./shape.ts";

export const runStates = ["RUNNING", "CANCELING", "DONE", "FAILED", "CANCELED"] as const;

export const run = z
  .object({
    id: idText,
    kind: z.string(),
    key: z.string(),
    version: count,
    /** The hash of its tasks and edges; null for a fan-out. */
    shape: z.string().nullable(),
    state: z.enum(runStates),
    /** All its jobs are written; more may follow while false. */
    sealed: z.boolean(),
    onFailure: z.enum(failurePolicies),
    /** A task FAILED under `stop`: what still waits will be SKIPPED. */
    stopped: z.boolean(),
    /** The run it is a rerun of. */
    parent: idText.nullable(),
    /** The job that started it. */
    starter: idText.nullable(),
    input: z.unknown(),
    progress: z.object({
      total: count,
      ready: count,
      waiting: count,
      running: count,
      done: count,
      ok: count,
      failed: count,
      skipped: count,
      canceled: count,
      percent: z.number().min(0).max(100),
    }),
    createdAt: time,
    finishedAt: maybeTime,
  })
  .meta({ id: "Run" });

export const runList = z.object({ runs: z.array(run), nextCursor: idText.nullable() }).meta({ id: "RunList" });

export const task = z
  .object({
    job: idText,
    task: z.string().nullable(),
    kind: z.string(),
    key: z.string().nullable(),
    state,
    /** Waits for predecessors. */
    blocked: z.boolean(),
    /** SKIPPED because its branch was not taken. */
    notTaken: z.boolean(),
    join: z.enum(["all", "any", "allDone"]),
    predecessors: z.object({ open: count, ok: count, bad: count }),
    /** The edges that lead to it, from these jobs; the first of them when it has many. */
    after: z.array(idText),
    afterTotal: count,
    attempt: count,
    failures: count,
    maxAttempts: count,
    result: z.unknown(),
    error: failure,
    startedAt: maybeTime,
    finishedAt: maybeTime,
  })
  .meta({ id: "Task" });

export const taskList = z
  .object({
    tasks: z.array(task),
    nextCursor: idText.nullable(),
  })
  .meta({ id: "TaskList" });

export type RunReply = z.infer<typeof run>;
export type TaskReply = z.infer<typeof task>;
export type RunListReply = z.infer<typeof runList>;
export type TaskListReply = z.infer<typeof taskList>;

export const runJson = (view: RunView): RunReply => ({
  id: view.id,
  kind: view.kind,
  key: view.key,
  version: view.version,
  shape: view.shape,
  state: view.state,
  sealed: view.sealed,
  onFailure: view.onFailure,
  stopped: view.stopped,
  parent: view.parentId,
  starter: view.starterId,
  input: view.input,
  progress: {
    total: view.total,
    ready: view.ready,
    waiting: view.waiting,
    running: view.running,
    done: view.done,
    ok: view.ok,
    failed: view.failed,
    skipped: view.skipped,
    canceled: view.done - view.ok - view.failed - view.skipped,
    percent: view.percent,
  },
  createdAt: iso(view.createdAt),
  finishedAt: maybeIso(view.finishedAt),
});

export const taskJson = (view: TaskView): TaskReply => ({
  job: view.jobId,
  task: view.task,
  kind: view.kind,
  key: view.key,
  state: view.state,
  blocked: view.blocked,
  notTaken: view.notTaken,
  join: view.join,
  predecessors: view.preds,
  after: [...view.after],
  afterTotal: view.afterTotal,
  attempt: view.attempt,
  failures: view.failures,
  maxAttempts: view.maxAttempts,
  result: view.result,
  error: view.errorCode === null ? null : { code: view.errorCode, message: view.errorMessage },
  startedAt: maybeIso(view.startedAt),
  finishedAt: maybeIso(view.finishedAt),
});
