import { attemptsOf } from "../../../src/core/job/history.ts";
import type { AttemptView, JobId, JobView, RunId } from "../../../src/core/job/job.ts";
import { operationsLimits } from "../../../src/core/ports/operations-limits.ts";
import type { JobCounts } from "../../../src/core/ports/ports.ts";
import type { JobFilter } from "../../../src/core/ports/job-search.ts";
import type { OccurrencePlace, OccurrenceView } from "../../../src/core/ports/schedule.ts";
import { isFinal, states } from "../../../src/core/job/state.ts";
import type { State } from "../../../src/core/job/state.ts";
import type { JobRow, OccurrenceRow } from "./rows.ts";
import { idOf } from "./tables.ts";
import type { Tables } from "./tables.ts";

export function job(t: Tables, id: JobId) {
  const row = t.jobs.get(Number(id));
  if (row === undefined) return null;
  return {
    job: jobView(t, row),
    history: t.history.rows.filter((move) => move.jobId === row.id).map(({ jobId: _jobId, ...move }) => move),
    now: t.now(),
  };
}

/** The attempts that ended, of all jobs. */
export function attempts(t: Tables): (AttemptView & { readonly jobId: number })[] {
  const byJob = Map.groupBy(t.history.rows, (move) => move.jobId);
  return [...t.jobs.values()].flatMap((row) =>
    attemptsOf(jobView(t, row), byJob.get(row.id) ?? []).map((attempt) => ({ ...attempt, jobId: row.id })),
  );
}

export function jobs(t: Tables, filter: JobFilter): JobView[] {
  return [...t.jobs.values()]
    .filter((row) => filter.states === undefined || filter.states.includes(row.state))
    .filter((row) => filter.kind === undefined || row.kind === filter.kind)
    .filter((row) => filter.lane === undefined || row.lane === filter.lane)
    .filter((row) => filter.key === undefined || row.key === filter.key)
    .filter((row) => filter.before === undefined || row.id < Number(filter.before))
    .toSorted((a, b) => b.id - a.id)
    .slice(0, filter.limit)
    .map((row) => jobView(t, row));
}

export function counts(t: Tables): JobCounts {
  const most = operationsLimits.countedRowsMax;
  const newest = [...t.jobs.values()].toSorted((a, b) => b.id - a.id).slice(0, most);
  const among = (state: State): number => newest.filter((row) => row.state === state).length;
  const isCounted = (state: State): boolean => !isFinal(state) || state === "FAILED";
  const all = states.map((state) => [state, isCounted(state) ? Math.min(most, t.count(state)) : among(state)]);
  const waiting = t.inStates("PENDING", "QUEUED", "RETRY_WAIT").filter((row) => row.hold === "none" && !row.blocked);
  const notYetDue = Math.min(most, waiting.filter((row) => row.dueAt > t.now()).length);
  return { ...(Object.fromEntries(all) as Record<State, number>), notYetDue };
}

export function occurrences(t: Tables, scheduleId: string, limit: number, after?: OccurrencePlace): OccurrenceView[] {
  return [...t.occurrences.values()]
    .filter((row) => row.scheduleId === scheduleId)
    .toSorted(newestFirst)
    .filter((row) => after === undefined || newestFirst(after, row) < 0)
    .slice(0, limit)
    .map(occurrenceView);
}

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
    createdAt: row.createdAt,
    dueAt: row.dueAt,
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
