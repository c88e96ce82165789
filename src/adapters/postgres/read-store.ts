import type { HistoryRow, JobId, JobView, Json } from "../../core/job/job.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Store } from "../../core/ports/ports.ts";
import { type State, states } from "../../core/job/state.ts";
import type { Session } from "./session.ts";
import type { JobRow } from "./sql/job-columns.ts";
import { countStates, type HistoryRowOf, readHistory, readJob, readJobs } from "./sql/read.ts";
import { selectNow } from "./sql/transaction.ts";

export function readStore(session: Session): Pick<Store, "now" | "job" | "jobs" | "counts"> {
  return {
    async now() {
      const [row] = await session.run(selectNow);
      return row?.now ?? 0;
    },
    async job(id) {
      const [row] = await session.run(readJob, [id]);
      if (row === undefined) return null;
      return { job: jobView(row), history: await jobHistory(session, id) };
    },
    async jobs({ states: among, kind, lane, key, before, limit }) {
      const rows = await session.run(readJobs, [
        among ?? null,
        kind ?? null,
        lane ?? null,
        key ?? null,
        before ?? null,
        limit,
      ]);
      return rows.map(jobView);
    },
    async counts() {
      const rows = await session.run(countStates, [operationsLimits.countedRowsMax]);
      const found = new Map(rows.map((row) => [row.state, row.jobs]));
      const counts = states.map((state) => [state, found.get(state) ?? 0] as const);
      return { ...(Object.fromEntries(counts) as Record<State, number>), notYetDue: rows[0]?.ahead ?? 0 };
    },
  };
}

export async function jobHistory(session: Session, id: JobId): Promise<readonly HistoryRow[]> {
  return (await session.run(readHistory, [id, operationsLimits.historyRowsMax])).map(historyRow);
}

export const historyRow = (row: HistoryRowOf): HistoryRow => ({
  id: row.id,
  at: row.at,
  from: row.from_state as State | null,
  to: row.to_state as State,
  attempt: row.attempt,
  generation: row.generation,
  worker: row.worker,
  reason: row.reason,
  caller: row.caller,
  startedAt: row.started_at,
  errorCode: row.error_code,
  errorMessage: row.error_message,
});

export const jobView = (row: JobRow): JobView => ({
  id: row.id as JobId,
  kind: row.kind,
  key: row.key,
  state: row.state as State,
  lane: row.lane,
  hold: row.hold,
  generation: row.generation,
  attempt: row.attempt,
  failures: row.failures,
  interruptions: row.interruptions,
  maxAttempts: row.max_attempts,
  payload: row.payload as Json,
  result: row.result as Json | null,
  progress: row.progress,
  errorCode: row.error_code,
  errorMessage: row.error_message,
  worker: row.worker,
  trace: row.trace,
  scheduleId: row.schedule_id,
  scheduledFor: row.scheduled_for,
  createdAt: row.created_at,
  dueAt: row.due_at,
  startedAt: row.started_at,
  leaseUntil: row.lease_until,
  finishedAt: row.finished_at,
});
