/** A run that goes on by a newer definition of its graph. */
import type { JobId } from "../../../src/machine/job.ts";
import type { OutboxBatch } from "../../../src/machine/outbox.ts";
import type { Renewal, StandingTask } from "../../../src/machine/renewal.ts";
import type { NewRun, NewTask } from "../../../src/machine/run.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { insertTask } from "./insert.ts";
import type { JobRow } from "./rows.ts";
import { idOf, type Tables } from "./tables.ts";

export const standingOf = (t: Tables, runId: number): StandingTask[] =>
  t.inRun(runId).map((row) => ({
    id: idOf(row),
    task: row.task ?? "",
    state: row.state,
    notTaken: row.notTaken,
    isOpen: isFinal(row.state) ? row.state !== "SUCCESS" : row.state === "PENDING" && row.blocked,
    isCounted: row.spread,
    after: (t.predecessors.get(row.id)?.to ?? []).map((id) => t.jobs.row(id).task ?? ""),
  }));

/** Writes the tasks, edges and terms of the newer definition. */
export function renew(
  t: Tables,
  runId: number,
  newer: NewRun,
  { jobs, open, removed }: Renewal,
): { readonly ids: readonly JobId[]; readonly outbox: readonly OutboxBatch[] } {
  const queued: JobRow[] = [];
  const all = newer.tasks.map((task, place) => {
    const id = jobs[place];
    if (id == null) return insertTask(t, runId, task, queued);
    if (open.has(id)) change(t, t.jobs.row(Number(id)), task);
    return Number(id);
  });
  const isNew = (place: number): boolean => jobs[place] === null;
  const written = all.filter((id, place) => isNew(place) || open.has(String(id) as JobId));
  for (const id of [...removed.map(Number), ...written]) unlink(t, id);
  for (const [place, to] of all.entries()) {
    if (written.includes(to)) link(t, newer.tasks[place]?.after.map((before) => all[before] ?? 0) ?? [], to);
  }
  const { version, shape, onFailure, tolerate, retentionMs } = newer;
  const run = t.runs.row(runId);
  const continuation = run.continuedBy === null ? newer.continuation : run.continuation;
  t.runs.set(runId, { ...run, version, shape, onFailure, tolerate, retentionMs, continuation });
  const ids = all.filter((_, place) => isNew(place)).map((id) => String(id) as JobId);
  return { ids, outbox: t.dispatch(queued) };
}

function change(t: Tables, row: JobRow, { job, after, join, hasCondition, wait = null }: NewTask): void {
  const { lane, leaseMs, maxAttempts, slotKeys } = job;
  const payload = row.signaledAt === null && row.attempt === 0 ? job.payload : row.payload;
  const dueAt = row.attempt === 0 ? (job.dueAt ?? t.now()) : row.dueAt;
  const wide = after.length > runLimits.wideJoinOver;
  const terms = { lane, leaseMs, maxAttempts, slotKeys };
  t.change(row, { ...terms, payload, dueAt, join, wide, hasCondition, wait });
}

function unlink(t: Tables, id: number): void {
  for (const before of t.predecessors.get(id)?.to ?? []) {
    t.successors.set(before, { to: (t.successors.get(before)?.to ?? []).filter((to) => to !== id) });
  }
  t.predecessors.set(id, { to: [] });
}

function link(t: Tables, from: readonly number[], to: number): void {
  t.predecessors.set(to, { to: from });
  for (const one of from) t.successors.set(one, { to: [...(t.successors.get(one)?.to ?? []), to] });
}
