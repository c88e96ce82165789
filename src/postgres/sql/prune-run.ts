import { pastRuns, retentionOfRuns } from "../../machine/retention.ts";
import { statement } from "../statement.ts";

/**
 * Jobs and edges of runs that have ended and outlived their retention, $1 jobs and $2 runs at most, and the runs that have none left.
 * Retentions are hopped through as by `prune-jobs`: it reads only what it
 * deletes. A run that is open keeps everything, however old its jobs are. Locks: the runs, SKIP LOCKED; then their jobs.
 */
export const pruneRuns = statement<{ jobs: number }>(
  "prune-runs",
  `
with recursive retention as (${retentionOfRuns}), past as materialized (
  select p.id from retention x cross join lateral (${pastRuns("$2")}
    for update skip locked
  ) p
  limit $2
), mine as materialized (
  select id, run_id from belfry.job where run_id = any(array(select id from past)) limit $1
), untied as (
  delete from belfry.edge where to_id = any(array(select id from mine))
), gone as (
  delete from belfry.job where id = any(array(select id from mine)) returning id
), closed as (
  delete from belfry.run r
  where r.id = any(array(select id from past))
    and (select count(*) from belfry.job j where j.run_id = r.id) = (select count(*) from mine m where m.run_id = r.id)
)
select count(*)::int as jobs from gone`,
);
