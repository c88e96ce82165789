import { joinParts } from "../../../src/machine/join.ts";
import type { JobId, Json, RunId } from "../../../src/machine/job.ts";
import { noAftermath } from "../../../src/machine/outbox.ts";
import type { Actor } from "../../../src/machine/transaction.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import {
  continuationKey,
  type InRun,
  type NewRun,
  type NewTarget,
  type Paged,
  type RunStore,
} from "../../../src/machine/run.ts";
import { iso } from "../../../src/machine/units.ts";
import type { Looks, RunLook, TaskLook } from "../looks.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { insertOne, insertTask } from "./insert.ts";
import { reopened } from "./orphans.ts";
import { passSlots } from "./slots.ts";
import type { Funnel, JobRow, RunRow } from "./rows.ts";
import { idOf, type Tables } from "./tables.ts";
import { aheadOf, freeWithdrawnKey } from "./withdrawn.ts";

export const runIdOf = (id: number): RunId => String(id) as RunId;

/** The runs of these jobs, each once. */
export const runsOf = (rows: readonly JobRow[]): RunId[] => [
  ...new Set(rows.flatMap((row) => (row.runId === null ? [] : [runIdOf(row.runId)]))),
];

const none: Funnel = { total: 0, done: 0, ok: 0, failed: 0, skipped: 0 };

export function startRun(t: Tables, run: NewRun): Awaited<ReturnType<RunStore["startRun"]>> {
  const known = [...t.runs.values()].find((row) => row.kind === run.kind && row.key === run.key);
  if (known !== undefined) {
    const { id, sealed, cursor, input } = run.sealed ? known : reopened(t, known, run);
    const parentId = known.parentId === null ? null : runIdOf(known.parentId);
    return { runId: runIdOf(id), created: false, sealed, cursor, input, parentId, aftermath: noAftermath };
  }
  const id = t.draw("run");
  const { kind, key, version, shape, input, onFailure, tolerate, continuation, retentionMs, sealed } = run;
  t.runs.set(id, {
    id,
    kind,
    key,
    version,
    shape,
    orphaned: false,
    input,
    onFailure,
    tolerate,
    continuation,
    continuedBy: null,
    trace: run.trace,
    retentionMs,
    sealed,
    state: "RUNNING",
    starterId: run.starterId === null ? null : Number(run.starterId),
    parentId: run.parentId === null ? null : Number(run.parentId),
    stopped: false,
    cursor: null,
    funnel: { ...none, total: run.tasks.length },
    createdAt: t.now(),
    finishedAt: null,
    ahead: aheadOf(t, run),
    canceledBy: null,
    withdrawn: null,
  });
  // A run without tasks is complete at once; its delta makes a resolve look.
  if (run.tasks.length === 0) addDelta(t, id, {});
  const queued: JobRow[] = [];
  const ids = run.tasks.map((task) => insertTask(t, id, task, queued));
  link(t, run, ids);
  if (run.sealed) passSlots(t, run.starterId === null ? null : Number(run.starterId));
  const { parentId } = run;
  const runs = run.tasks.length === 0 ? [runIdOf(id)] : [];
  const aftermath = { ...noAftermath, outbox: t.dispatch(queued), runs };
  return { runId: runIdOf(id), created: true, sealed, cursor: null, input, parentId, aftermath };
}

function link(t: Tables, run: NewRun, ids: readonly number[]): void {
  const successors = new Map<number, number[]>();
  for (const [place, task] of run.tasks.entries()) {
    const to = ids[place] ?? 0;
    const from = task.after.map((before) => ids[before] ?? 0);
    t.predecessors.set(to, { to: from });
    for (const one of from) successors.set(one, [...(successors.get(one) ?? []), to]);
  }
  for (const [from, to] of successors) t.successors.set(from, { to });
}

export function addDelta(t: Tables, runId: number, delta: Partial<Funnel>): void {
  t.runDeltas.set(t.draw("delta"), { ...none, ...delta, runId });
}

export function addPage(
  t: Tables,
  id: RunId,
  page: { targets: readonly NewTarget[]; cursor: Json | null; by: { jobId: JobId; attempt: number } },
): Paged {
  const run = t.runs.get(Number(id));
  const by = t.jobs.get(Number(page.by.jobId));
  const isOurs = by?.state === "RUNNING" && by.attempt === page.by.attempt;
  if (run?.state !== "RUNNING" || run.sealed || !isOurs) {
    return { written: false, created: 0, conflicts: 0, aftermath: noAftermath };
  }
  const queued: JobRow[] = [];
  for (const { job } of page.targets) freeWithdrawnKey(t, job);
  const results = page.targets.map(({ job, row }) =>
    insertOne(t, job, queued, { runId: run.id, hasCondition: row !== null, askedRow: row }),
  );
  const created = results.filter((result) => result.created).length;
  addDelta(t, run.id, { total: created });
  t.runs.set(run.id, { ...run, cursor: page.cursor });
  const conflicts = results.filter(({ isConflict }) => isConflict).length;
  return { written: true, created, conflicts, aftermath: { ...noAftermath, outbox: t.dispatch(queued) } };
}

export function sealRun(t: Tables, id: RunId): boolean {
  const run = t.runs.get(Number(id));
  if (run?.state !== "RUNNING" && run?.state !== "CANCELING") return false;
  t.runs.set(run.id, { ...run, sealed: true });
  passSlots(t, run.starterId);
  addDelta(t, run.id, {});
  return run.state === "RUNNING";
}

export function inRuns(t: Tables, ids: readonly JobId[]): ReadonlyMap<JobId, InRun> {
  const rows = ids.flatMap((id) => t.jobs.get(Number(id)) ?? []);
  return new Map(rows.flatMap((row) => (row.runId === null ? [] : [[idOf(row), inRunOf(t, row, row.runId)]])));
}

export function inRunOf(t: Tables, row: JobRow, runId: number): InRun {
  const { kind, key, version, input } = t.runs.row(runId);
  const before = (t.predecessors.get(row.id)?.to ?? []).map((id) => t.jobs.row(id));
  const outputs = before
    .filter((one) => isFinal(one.state))
    .map((one) => [one.task ?? "", { state: one.state, result: one.state === "SUCCESS" ? one.result : null }] as const);
  const run = { runId: runIdOf(runId), kind, key, version, input, isSignaled: row.signaledAt !== null };
  return { ...run, task: row.task, payload: row.payload, row: row.askedRow, outputs: Object.fromEntries(outputs) };
}

export function skip(
  t: Tables,
  messages: readonly { jobId: JobId; generation: number }[],
  options: { reason: string },
): Awaited<ReturnType<RunStore["skip"]>> {
  const rows = messages.flatMap(({ jobId, generation }) => {
    const row = t.jobs.get(Number(jobId));
    if (row?.state !== "QUEUED" || row.generation !== generation) return [];
    return [t.move(row, { state: "SKIPPED", notTaken: true }, { reason: options.reason })];
  });
  return { ids: rows.map(idOf), aftermath: { ...noAftermath, runs: runsOf(rows) } };
}

export function cancelRun(t: Tables, id: RunId, { caller }: Actor = {}): boolean {
  const run = t.runs.get(Number(id));
  if (run?.state === "CANCELING") return true;
  if (run?.state !== "RUNNING") return false;
  t.runs.set(run.id, { ...run, state: "CANCELING", sealed: true, canceledBy: caller ?? null });
  addDelta(t, run.id, {});
  return true;
}

export const openJobs = (t: Tables, id: RunId, limit: number): JobId[] =>
  t.runs.get(Number(id))?.state !== "CANCELING"
    ? []
    : t
        .inRun(Number(id))
        .filter((row) => !isFinal(row.state))
        .slice(0, limit)
        .map(idOf);

export function whyCanceled(t: Tables, id: RunId): { readonly reason: string; readonly caller: string | null } {
  const run = t.runs.get(Number(id));
  return { reason: run?.withdrawn ?? "run canceled", caller: run?.canceledBy ?? null };
}

export const cancelingRuns = (t: Tables, limit: number, only?: { readonly withdrawn: string }): RunId[] =>
  [...t.runs.values()]
    .filter((row) => only === undefined || (row.withdrawn !== null && row.kind === only.withdrawn))
    .map((row) => String(row.id) as RunId)
    .filter((id) => openJobs(t, id, 1).length > 0)
    .slice(0, limit);

export function runLook(t: Tables, id: RunId): RunLook | null {
  const row = t.runs.get(Number(id));
  return row === undefined ? null : lookOf(t, row);
}

export const runLooks = (t: Tables, { kinds, states, parent, limit }: Parameters<Looks["runs"]>[0] = {}): RunLook[] =>
  [...t.runs.values()]
    .filter((row) => kinds === undefined || kinds.includes(row.kind))
    .filter((row) => states === undefined || states.includes(row.state))
    .filter((row) => parent === undefined || row.parentId === Number(parent))
    .toSorted((a, b) => b.id - a.id)
    .slice(0, limit)
    .map((row) => lookOf(t, row));

function followerOf(t: Tables, { id, continuation, continuedBy }: RunRow): JobId | null {
  const row = continuedBy === null ? undefined : t.withKey(continuation?.job ?? "", continuationKey(runIdOf(id)));
  return row === undefined ? null : idOf(row);
}

function lookOf(t: Tables, row: RunRow): RunLook {
  const funnel = funnelOf(t, row);
  const open = t.inRun(row.id).filter((job) => !isFinal(job.state));
  const { kind, key, version, shape, state, onFailure, tolerate, stopped, sealed, input, createdAt, finishedAt } = row;
  return {
    id: runIdOf(row.id),
    kind,
    key,
    version,
    shape,
    state,
    onFailure,
    tolerate,
    then:
      row.continuation === null
        ? null
        : {
            kind: row.continuation.job,
            on: row.continuation.on,
            by: row.continuedBy === null ? null : String(row.continuedBy),
            job: followerOf(t, row),
          },
    stopped,
    sealed,
    input,
    createdAt: iso(createdAt),
    finishedAt: finishedAt === null ? null : iso(finishedAt),
    parent: row.parentId === null ? null : runIdOf(row.parentId),
    starter: row.starterId === null ? null : String(row.starterId),
    ...funnel,
    canceled: funnel.done - funnel.ok - funnel.failed - funnel.skipped,
    ready: open.filter((job) => job.state !== "RUNNING" && !job.blocked).length,
    waiting: open.filter((job) => job.blocked).length,
    running: open.filter((job) => job.state === "RUNNING").length,
    percent: funnel.total === 0 ? (sealed ? 100 : 0) : Math.floor((100 * funnel.done) / funnel.total),
  };
}

/** The added-up part and the deltas together. */
export function funnelOf(t: Tables, run: RunRow): Funnel {
  let { total, done, ok, failed, skipped } = run.funnel;
  for (const delta of t.runDeltas.values()) {
    if (delta.runId !== run.id) continue;
    total += delta.total;
    done += delta.done;
    ok += delta.ok;
    failed += delta.failed;
    skipped += delta.skipped;
  }
  return { total, done, ok, failed, skipped };
}

export const taskLooks = (t: Tables, id: RunId, { states, limit }: Parameters<Looks["tasks"]>[1] = {}): TaskLook[] =>
  t
    .inRun(Number(id))
    .filter((row) => states === undefined || states.includes(row.state))
    .slice(0, limit)
    .map((row) => ({
      jobId: idOf(row),
      task: row.task,
      kind: row.kind,
      key: row.key,
      state: row.state,
      blocked: row.blocked,
      notTaken: row.notTaken,
      join: joinParts(row.join).rule,
      atLeast: joinParts(row.join).rule === "any" ? joinParts(row.join).least : null,
      after: predecessorsOf(t, row).slice(0, runLimits.edgesShownMax),
      afterTotal: predecessorsOf(t, row).length,
      predecessors: { open: row.predsOpen, ok: row.predsOk, bad: row.predsBad },
      attempt: row.attempt,
      failures: row.failures,
      maxAttempts: row.maxAttempts,
      result: row.result,
      error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage },
      startedAt: row.startedAt === null ? null : iso(row.startedAt),
      finishedAt: row.finishedAt === null ? null : iso(row.finishedAt),
    }));

const predecessorsOf = (t: Tables, row: JobRow): JobId[] =>
  (t.predecessors.get(row.id)?.to ?? []).toSorted((a, b) => a - b).map((id) => String(id) as JobId);
