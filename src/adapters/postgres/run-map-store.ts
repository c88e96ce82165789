import type { JobId } from "../../core/job/job.ts";
import type { State } from "../../core/job/state.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { RunMaps } from "../../core/ports/run-map.ts";
import type { Session } from "./session.ts";
import { readRunEdges, readRunMap } from "./sql/run-map.ts";

/** Whole runs for people who look at them. */
export function runMapStore(session: Session): RunMaps {
  return {
    async runMap(run) {
      const { mappedTasksMax, mappedEdgesMax, mappedEdgesOfTaskMax } = operationsLimits;
      const [rows, edges] = await Promise.all([
        session.run(readRunMap, [run, mappedTasksMax + 1]),
        session.run(readRunEdges, [run, mappedTasksMax, mappedEdgesOfTaskMax, mappedEdgesMax + 1]),
      ]);
      return {
        tasks: rows.slice(0, mappedTasksMax).map((row) => ({
          jobId: row.id as JobId,
          name: row.name,
          state: row.state as State,
          notTaken: row.not_taken,
          openPredecessors: row.preds_open,
          attempt: row.attempt,
          errorCode: row.error_code,
          startedAt: row.started_at,
          finishedAt: row.finished_at,
        })),
        edges: edges.slice(0, mappedEdgesMax).map(({ from_id, to_id }) => [from_id as JobId, to_id as JobId] as const),
        isMore: rows.length > mappedTasksMax || edges.length > mappedEdgesMax,
      };
    },
  };
}
