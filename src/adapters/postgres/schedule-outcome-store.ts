import type { JobId, RunId } from "../../core/job/job.ts";
import { isFinal, type State } from "../../core/job/state.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { RunState } from "../../core/ports/run.ts";
import type {
  EndResult,
  OccurrenceEnd,
  ScheduleOutcomes,
  ScheduleSearch,
  ScheduleSort,
} from "../../core/ports/schedule-outcome.ts";
import { occurrenceView, scheduleRow } from "./schedule-store.ts";
import type { Session } from "./session.ts";
import {
  type OccurrenceEndRow,
  readComing,
  readFailingSince,
  readLatestOccurrences,
  readOccurrenceEnds,
  searchSchedules,
} from "./sql/schedule-outcome.ts";

/** Reads the ledger together with the jobs and runs that it led to. */
export function scheduleOutcomeStore(session: Session): ScheduleOutcomes {
  return {
    async searchSchedules({ search, sort, offset, limit }) {
      const values = [
        JSON.stringify(search),
        sort,
        limit,
        offset,
        neededEnds(search, sort),
        operationsLimits.lastEndLooksMax,
        operationsLimits.suspectsMax,
        operationsLimits.suspectRunsMax,
        operationsLimits.latestJudgedMax,
        operationsLimits.latestLooksMax,
      ];
      const rows = await session.run(searchSchedules, values);
      return {
        total: rows[0]?.total ?? 0,
        isMore: rows[0]?.is_more ?? false,
        schedules: rows.flatMap((row) => (row.id === null ? [] : [scheduleRow(row)])),
      };
    },
    async comingSchedules(search, limit) {
      return (await session.run(readComing, [JSON.stringify(search), limit])).map(scheduleRow);
    },
    async latestOccurrences(ids, each) {
      return (await session.run(readLatestOccurrences, [ids, each])).map(occurrenceView);
    },
    async occurrenceEnds(jobs) {
      if (jobs.length === 0) return new Map();
      const rows = await session.run(readOccurrenceEnds, [jobs]);
      return new Map(rows.map(endView).map((end) => [end.jobId, end]));
    },
    async failingSince(ids, each) {
      if (ids.length === 0) return new Map();
      const rows = await session.run(readFailingSince, [ids, each]);
      return new Map(
        rows.map((row) => [
          row.schedule_id,
          { since: row.since, succeededAt: row.succeeded_at, isMore: row.succeeded_at === null && row.looked >= each },
        ]),
      );
    },
  };
}

const neededEnds = ({ state, lateOverMs }: ScheduleSearch, sort: ScheduleSort): "latest" | "failing" | "none" => {
  // Of those that fail all ends are looked for, and with them how late they were.
  if (state === "failing") return "failing";
  if (lateOverMs !== undefined || sort === "lateness") return "latest";
  return sort === "failing" ? "failing" : "none";
};

const waitOf = ({ blocked, hold, failures, due_at: dueAt }: OccurrenceEndRow): OccurrenceEnd["waits"] => ({
  blocked,
  hold,
  failures,
  dueAt,
});

const endView = (row: OccurrenceEndRow): OccurrenceEnd => ({
  jobId: row.job_id as JobId,
  kind: row.kind,
  state: row.state as State | null,
  waits: row.state === null || isFinal(row.state as State) ? null : waitOf(row),
  run:
    row.run_id === null || row.run_state === null
      ? null
      : { id: row.run_id as RunId, state: row.run_state as RunState, failed: row.run_failed ?? 0 },
  result: row.result as EndResult,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  errorCode: row.error_code,
  errorMessage: row.error_message,
  reason: row.reason,
});
