import { statement } from "../statement.ts";

/**
 * Jobs and edges of runs that have ended and outlived their retention, $1 jobs at most, and the runs that have none left.
 * A run that is open keeps everything, however old its jobs are. Locks: the runs, SKIP LOCKED; then their jobs.
 */
export const pruneRuns = statement<{ jobs: number }>(
  "prune-runs",
  `
with past as materialized (
  select id from belfry.run
  where finished_at is not null and finished_at < belfry.now() - belfry.span(retention_ms)
  order by finished_at limit 100
  for update skip locked
), mine as materialized (
  select id, run_id from belfry.job where run_id = any(array(select id from past))
  order by run_id, id limit $1
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
