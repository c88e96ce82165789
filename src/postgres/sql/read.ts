import type { JobId, JobView } from "../../machine/job.ts";
import { jobColumns } from "../../machine/job-columns.ts";
import type { InRun } from "../../machine/run.ts";
import { keptStatement, statement } from "../statement.ts";

/** Locks nothing. */
export const readJob = statement<JobView>("job")(`select ${jobColumns} from belfry.job j where j.id = $1::bigint`);

/** By its key, which is one step in the index. Locks nothing. */
export const readJobByKey = statement<JobView>("job-by-key")(`
select ${jobColumns} from belfry.job j
where belfry.key_hash(j.kind, j.key) = belfry.key_hash($1, $2) and j.key is not null and j.kind = $1 and j.key = $2`);

/** What these jobs know about their runs, with the outputs of predecessors that ended. Locks nothing. */
export const readInRuns = keptStatement<InRun & { readonly jobId: JobId }>("in-runs")(`
with j as materialized (
  select id, run_id, task, payload, condition_row, signaled_at from belfry.job where id = any($1::bigint[])
)
select j.id as "jobId", j.run_id as "runId", r.kind, r.key, r.version, r.input, j.task, j.payload, j.condition_row as row, j.signaled_at is not null as "isSignaled",
  coalesce(o.outputs, '{}') as outputs
from j cross join lateral (select kind, key, version, input from belfry.run where id = j.run_id limit 1) r
left join lateral (
  select jsonb_object_agg(p.task, jsonb_build_object('state', p.state, 'result', case p.state when 'SUCCESS' then p.result end))
    as outputs
  from belfry.edge e join belfry.job p on p.id = e.from_id
  where e.to_id = j.id and p.state >= 'SUCCESS'
) o on true`);
