/** Runs of the rows of a task. */
import type { RunResult } from "../../machine/run.ts";
import { statement } from "../statement.ts";

/** How a run ended. $1 run. Locks nothing. */
export const readResult = statement<Omit<RunResult, "runId">>("run-result")(`
select state as outcome, total, ok as succeeded, failed, done - ok - failed - skipped as canceled, skipped
from belfry.run where id = $1::bigint and finished_at is not null`);

/** What the jobs of a run that succeeded returned. $1 run $2 behind this job $3 limit. Locks nothing. */
export const readOutputs = statement<{ id: string; result: unknown }>("run-outputs")(`
select id, result from belfry.job
where (run_id, (finished_at is not null)::int, id) > ($1::bigint, 1, $2::bigint) and run_id <= $1::bigint
  and (finished_at is not null)::int = 1 and state = 'SUCCESS'
order by run_id, (finished_at is not null)::int, id limit $3`);

/**
 * Runs of the rows of `tasks` (ids of open tasks), which end without them -> CANCELING: a pass cancels their jobs in pages. The
 * statement that ends the tasks locks these runs first, as the end of such a run does: `afterRows` stands in what locks the tasks. One that is not sealed may go on where it stopped, if its task runs again.
 */
export const cancelRows = (tasks: string, caller: string): string => `rows_of as (
  update belfry.run r set state = 'CANCELING', sealed = true, canceled_by = ${caller},
    error = case when r.sealed then r.error else 'its task was canceled' end
  where r.starter_id = any(array(${tasks})) and r.state = 'RUNNING'
  returning r.id
), rows_nudged as (
  insert into belfry.run_delta (run_id) select id from rows_of
)`;
export const afterRows = "(select count(*) from rows_of) >= 0";

/** Runs of the rows of these tasks that did not succeed: they run again with them. $1 tasks. Locks: those runs in id order, waiting. */
export const lockRows = statement<{ id: string; starter_id: string }>("resume-rows")(`
select id, starter_id from belfry.run where starter_id = any($1::bigint[]) and state in ('FAILED', 'CANCELED')
order by id
for no key update`);

/** Its task looks for rows again that it has not written: as a starter does that left it unsealed. $1 run. Locks: its row, locked already. */
export const growAgain = statement<never>("resume-grow")(
  "update belfry.run set state = 'RUNNING', finished_at = null, error = coalesce(error, 'its task runs again') where id = $1::bigint",
);
