import { isDeepStrictEqual } from "node:util";
import { isSealed } from "../../../src/machine/seal.ts";
import { keptPayload, type Debounced, type Json, type NewJob } from "../../../src/machine/job.ts";
import { noAftermath } from "../../../src/machine/outbox.ts";
import type { NewTask } from "../../../src/machine/run.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import { type Inserted, type InsertResult } from "../../../src/machine/store.ts";
import type { JobRow } from "./rows.ts";
import { groupOf } from "./slots.ts";
import { waitsAgain } from "./turns.ts";
import { idOf, type Tables } from "./tables.ts";

/** What an occurrence adds to the job it makes. */
export type FromSchedule = Pick<JobRow, "scheduleId" | "scheduledFor" | "effectiveAt" | "catchUp" | "missed">;

const fromNoSchedule: FromSchedule = {
  scheduleId: null,
  scheduledFor: null,
  effectiveAt: null,
  catchUp: false,
  missed: 0,
};

/** Inserts jobs in the order of the input; rows due within the dispatch window are dispatched, one row for each lane. */
export function insert(t: Tables, jobs: readonly NewJob[]): Inserted {
  const queued: JobRow[] = [];
  const beside = jobs.filter(({ debounce }) => debounce === undefined);
  const results = jobs.map((job) => insertOne(t, job, queued, behind(t, job, beside)));
  const rows = results.flatMap(({ id, created }) => (created ? t.jobs.row(Number(id)) : []));
  const freed = [...new Set(rows.flatMap(({ turn, heldOn }) => (turn === undefined ? (heldOn ?? []) : [])))];
  const keys = jobs.flatMap(({ turn }, at) => (results[at]?.created === true ? (turn?.heldOn ?? []) : []));
  const turns = { lanes: [], keys: [...new Set(keys)] };
  const batches = jobs.flatMap(({ kind, batch }) => (batch === undefined ? [] : { kind, ...batch }));
  return { results, aftermath: { ...noAftermath, outbox: t.dispatch(queued), freed, turns, batches } };
}

/** A job that is due begins held on the first of its keys that an earlier job waits for, or that more jobs of the call have than it has slots. */
function behind(t: Tables, { slotKeys, dueAt, delayMs }: NewJob, beside: readonly NewJob[]): Partial<FromRun> {
  const due = (dueAt ?? t.now()) + delayMs;
  if (due > t.now() || beside.some(({ turn, batch }) => turn !== undefined || batch !== undefined)) return {};
  const heldOn = slotKeys.find((key) => {
    const { size, onRefusal, reason } = groupOf(t, key);
    if (onRefusal !== "hold" || reason !== "slot") return false;
    const isBefore = (row: JobRow): boolean => row.heldOn === key && !row.blocked && row.dueAt <= due;
    const needed = beside.filter((each) => each.slotKeys.includes(key)).length;
    return needed > size || t.inStates("PENDING", "RETRY_WAIT").some(isBefore);
  });
  return heldOn === undefined ? {} : { hold: "slot", heldOn };
}

/** Sealed twice, one payload has two texts, so what is sealed is not compared. */
const isSame = (one: Json, other: Json): boolean => isSealed(one) || isSealed(other) || isDeepStrictEqual(one, other);

/** Rows that became QUEUED are added to `queued`, so that a caller hands several inserts off together. */
export function insertOne(
  t: Tables,
  job: NewJob,
  queued: JobRow[],
  {
    dispatchWindowMs = t.dispatchWindowMs,
    ...from
  }: Partial<FromSchedule & FromRun> & { dispatchWindowMs?: number } = {},
  reason: string | null = null,
): InsertResult {
  if (job.debounce !== undefined) return joinBurst(t, job, job.debounce, queued);
  const known = job.key === null ? undefined : t.withKey(job.kind, job.key);
  if (known !== undefined) return { id: idOf(known), created: false, isConflict: !isSame(known.payload, job.payload) };
  const row = newRow(t, job, { ...fromNoSchedule, ...from, until: t.now() + dispatchWindowMs });
  t.add(row, reason);
  if (row.state === "QUEUED") queued.push(row);
  return { id: idOf(row), created: true, isConflict: false };
}

/** A job of a graph; its edges are written beside it. */
export function insertTask(t: Tables, runId: number, task: NewTask, queued: JobRow[]): number {
  const from = {
    runId,
    task: task.task,
    predsOpen: task.after.length,
    join: task.join,
    blocked: task.after.length > 0,
    wide: task.after.length > runLimits.wideJoinOver,
    hasCondition: task.hasCondition,
    wait: task.wait ?? null,
    dispatchWindowMs: 0,
  };
  return Number(insertOne(t, task.job, queued, from).id);
}

/** Joins the job of the newest burst while that waits and was never started; else begins one. */
function joinBurst(t: Tables, job: NewJob, by: Debounced, queued: JobRow[]): InsertResult {
  const key = JSON.stringify([job.kind, by.key]);
  const known = t.jobs.get(t.bursts.get(key) ?? 0);
  if (known === undefined || !isOpen(known)) {
    const begun = insertOne(t, { ...job, debounce: undefined }, queued);
    const row = t.jobs.row(Number(begun.id));
    const changed = t.change(row, { joined: 0, dueAtMost: row.createdAt + by.maxMs });
    queued.splice(0, queued.length, ...queued.map((each) => (each.id === row.id ? changed : each)));
    t.bursts.set(key, row.id);
    return begun;
  }
  const most = known.dueAtMost ?? known.createdAt + by.maxMs;
  const dueAt = known.dueAt <= t.now() ? known.dueAt : Math.max(known.dueAt, Math.min(t.now() + by.forMs, most));
  const payload = keptPayload(by.keep, known.payload, job.payload);
  t.change(known, { payload, dueAt, dueAtMost: most, joined: (known.joined ?? 0) + 1 });
  return { id: idOf(known), created: false, isConflict: false };
}

const isOpen = ({ state, attempt }: JobRow): boolean => (state === "PENDING" || state === "QUEUED") && attempt === 0;

/** What a run adds to the jobs it makes. */
export type FromRun = Pick<
  JobRow,
  "runId" | "task" | "predsOpen" | "join" | "blocked" | "wide" | "hasCondition" | "askedRow" | "wait"
> &
  Partial<Pick<JobRow, "hold" | "heldOn">>;

const inNoRun: FromRun = {
  runId: null,
  task: null,
  predsOpen: 0,
  join: "all",
  blocked: false,
  wide: false,
  hasCondition: false,
  askedRow: null,
  wait: null,
};

function newRow(
  t: Tables,
  job: NewJob,
  { until, ...from }: FromSchedule & Partial<FromRun> & { until: number },
): JobRow {
  const now = t.now();
  const dueAt = (job.dueAt ?? now) + job.delayMs + (from.wait?.ms ?? 0);
  const soon = dueAt <= until && from.blocked !== true && job.turn === undefined && from.heldOn === undefined;
  return {
    id: t.draw("job"),
    kind: job.kind,
    key: job.key,
    payload: job.payload,
    lane: job.lane,
    state: soon ? "QUEUED" : "PENDING",
    ...waitsAgain(job),
    turn: job.turn,
    dueAt,
    joined: null,
    dueAtMost: null,
    batchKey: job.batch?.key ?? null,
    batchOf: null,
    expiresAt: job.expiresAt,
    generation: soon ? 1 : 0,
    attempt: 0,
    failures: 0,
    interruptions: 0,
    deadLetters: 0,
    maxAttempts: job.maxAttempts,
    leaseMs: job.leaseMs,
    retentionMs: job.retentionMs,
    alone: false,
    slotKeys: job.slotKeys,
    ...inNoRun,
    predsOk: 0,
    predsBad: 0,
    notTaken: false,
    signaledAt: null,
    signaledBy: null,
    spread: false,
    ...from,
    trace: job.trace,
    worker: null,
    startedAt: null,
    leaseId: null,
    progress: null,
    handedAt: soon ? now : null,
    finishedAt: null,
    result: null,
    errorCode: null,
    errorMessage: null,
    createdAt: now,
  };
}
