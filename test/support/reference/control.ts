import type { JobId } from "../../../src/machine/job.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { MovedRows } from "../../../src/machine/transaction.ts";
import { noAftermath } from "../../../src/machine/outbox.ts";
import type { Pruned } from "../../../src/machine/store.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { decideOccurrence } from "./occurrence.ts";
import { cancelRows } from "./each.ts";
import { forgetKeys, leaveSlots, leaveToRun } from "./slots.ts";
import type { JobRow } from "./rows.ts";
import { runsOf } from "./runs.ts";
import { movedOf, occurrenceKey, type Tables, type Why } from "./tables.ts";

export function cancel(
  t: Tables,
  ids: readonly JobId[],
  why: Why = { reason: "canceled" },
  occurrenceReason = "canceled",
): MovedRows {
  const open = existing(t, ids).filter((row) => !isFinal(row.state));
  cancelRows(t, open, why.caller ?? null);
  const rows = open.map((row) => cancelOne(t, row, why, occurrenceReason));
  return { rows: rows.map((row) => movedOf(t, row)), aftermath: { ...noAftermath, runs: runsOf(rows) } };
}

function cancelOne(t: Tables, row: JobRow, why: Why, occurrenceReason: string): JobRow {
  if (row.state === "RUNNING") {
    // A renewal that still saw the job may come after the cancel.
    const until = row.leaseId === null ? t.now() : t.leases.row(row.leaseId).until;
    const freeFrom = Math.max(until, t.now() + row.leaseMs + 1000);
    leaveSlots(t, row.id, freeFrom);
    leaveToRun(t, row.runId, freeFrom);
  }
  const worker = row.state === "RUNNING" ? row.worker : null;
  const canceled = t.move(row, { state: "CANCELED" }, { ...why, worker });
  decideOccurrence(t, canceled, "SKIPPED", occurrenceReason);
  return canceled;
}

/** Finished jobs past their retention, the oldest first. Partitions exist only in a real database. */
export function prune(t: Tables, limit: number): Pruned {
  const past = t
    .inStates("SUCCESS", "FAILED", "CANCELED", "SKIPPED")
    .filter((row) => row.runId === null && row.finishedAt !== null && row.finishedAt + row.retentionMs < t.now())
    .filter((row) => ![...t.runs.values()].some((run) => run.starterId === row.id && run.finishedAt === null))
    .toSorted((a, b) => (a.finishedAt ?? 0) - (b.finishedAt ?? 0) || a.id - b.id)
    .slice(0, limit);
  for (const row of past) t.jobs.delete(row.id);
  forgetKeys(t, limit);
  return { jobs: past.length + pruneRuns(t, limit), occurrences: pruneOccurrences(t, limit), partitions: 0 };
}

/** Jobs of runs that have ended and outlived their retention, and the runs that have none left. */
function pruneRuns(t: Tables, limit: number): number {
  const past = [...t.runs.values()].filter((run) => (run.finishedAt ?? Infinity) + run.retentionMs < t.now());
  const jobs = past.flatMap((run) => t.inRun(run.id)).slice(0, limit);
  for (const { id } of jobs) {
    t.jobs.delete(id);
    t.predecessors.delete(id);
    t.successors.delete(id);
  }
  for (const run of past) if (t.inRun(run.id).length === 0) t.runs.delete(run.id);
  return jobs.length;
}

/** Decided before the history's retention, as its time; the ledger then begins after it. */
function pruneOccurrences(t: Tables, limit: number): number {
  const before = t.now() - contractLimits.historyMs;
  const isOpen = (id: number | null): boolean => id !== null && t.jobs.get(id)?.finishedAt === null;
  const past = [...t.occurrences.values()]
    .filter((row) => row.decidedAt !== null && row.decidedAt < before && row.nominalAt < before && !isOpen(row.jobId))
    .toSorted((a, b) => (a.decidedAt ?? 0) - (b.decidedAt ?? 0))
    .slice(0, limit);
  for (const row of past) {
    t.occurrences.delete(occurrenceKey(row));
    const schedule = t.schedules.get(row.scheduleId);
    if (schedule === undefined) continue;
    t.schedules.set(row.scheduleId, { ...schedule, ledgerFrom: Math.max(schedule.ledgerFrom ?? 0, row.nominalAt + 1) });
  }
  return past.length;
}

function existing(t: Tables, ids: readonly JobId[]): JobRow[] {
  const sorted = [...new Set(ids.map(Number))].toSorted((a, b) => a - b);
  return sorted.flatMap((id) => t.jobs.get(id) ?? []);
}
