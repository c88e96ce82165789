import { attemptsOf } from "../../../src/machine/history.ts";
import type { AttemptView, HistoryRow, JobId, JobView, RunId } from "../../../src/machine/job.ts";
import type { OccurrencePlace, OccurrenceView } from "../../../src/machine/schedule.ts";
import type { Store } from "../../../src/machine/store.ts";
import type { JobLook } from "../looks.ts";
import type { JobRow, OccurrenceRow } from "./rows.ts";
import { idOf, type Tables } from "./tables.ts";

export function job(t: Tables, of: Parameters<Store["job"]>[0]): JobView | null {
  const row =
    typeof of === "string"
      ? t.jobs.get(Number(of))
      : [...t.jobs.values()].find(({ kind, key }) => kind === of.kind && key === of.key);
  return row === undefined ? null : jobView(t, row);
}

export const history = (t: Tables, id: JobId): HistoryRow[] =>
  t.history.rows.filter((move) => move.jobId === Number(id)).map(({ jobId: _jobId, ...move }) => move);

/** The attempts that ended, of all jobs. */
export function attempts(t: Tables): (AttemptView & { readonly jobId: number })[] {
  const byJob = Map.groupBy(t.history.rows, (move) => move.jobId);
  return [...t.jobs.values()].flatMap((row) =>
    attemptsOf(jobView(t, row), byJob.get(row.id) ?? []).map((attempt) => ({ ...attempt, jobId: row.id })),
  );
}

export const jobs = (t: Tables, { states, kind, limit }: JobLook = {}): JobView[] =>
  [...t.jobs.values()]
    .filter((row) => states === undefined || states.includes(row.state))
    .filter((row) => kind === undefined || row.kind === kind)
    .toSorted((a, b) => b.id - a.id)
    .slice(0, limit)
    .map((row) => jobView(t, row));

export const occurrences = (t: Tables, scheduleId: string, after?: OccurrencePlace, limit?: number): OccurrenceView[] =>
  [...t.occurrences.values()]
    .filter((row) => row.scheduleId === scheduleId)
    .toSorted(newestFirst)
    .filter((row) => after === undefined || newestFirst(after, row) < 0)
    .slice(0, limit)
    .map(occurrenceView);

function newestFirst(a: OccurrencePlace, b: OccurrencePlace): number {
  if (a.nominalAt !== b.nominalAt) return b.nominalAt - a.nominalAt;
  const [x, y] = [a, b].map((each) => `${each.localTime} ${each.fold} ${each.timezone}`);
  return x === y ? 0 : (x ?? "") < (y ?? "") ? 1 : -1;
}

export function jobView(t: Tables, row: JobRow): JobView {
  return {
    id: idOf(row),
    kind: row.kind,
    key: row.key,
    state: row.state,
    lane: row.lane,
    hold: row.hold,
    generation: row.generation,
    attempt: row.attempt,
    failures: row.failures,
    interruptions: row.interruptions,
    maxAttempts: row.maxAttempts,
    payload: row.payload,
    result: row.result,
    progress: row.progress,
    errorCode: row.errorCode,
    errorMessage: row.errorMessage,
    worker: row.worker,
    trace: row.trace,
    scheduleId: row.scheduleId,
    scheduledFor: row.scheduledFor,
    effectiveAt: row.effectiveAt,
    createdAt: row.createdAt,
    dueAt: row.dueAt,
    joined: row.joined,
    dueAtMost: row.dueAtMost,
    batchKey: row.batchKey,
    batchOf: row.batchOf,
    startedAt: row.startedAt,
    leaseUntil: row.leaseId === null ? null : t.leases.row(row.leaseId).until,
    finishedAt: row.finishedAt,
    runId: row.runId === null ? null : (String(row.runId) as RunId),
    task: row.task,
    blocked: row.blocked,
    heldOn: row.hold === "slot" ? row.heldOn : null,
    slotKeys: row.slotKeys,
    payloadBytes: JSON.stringify(row.payload).length,
  };
}

export function occurrenceView(row: OccurrenceRow): OccurrenceView {
  const { catchUp: _catchUp, jobId, ...view } = row;
  return { ...view, jobId: jobId === null ? null : (String(jobId) as JobId) };
}
