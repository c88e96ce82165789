import { z } from "zod";
import { isFailed } from "../machine/job-columns.ts";
import { retentionOfRuns } from "../machine/retention.ts";
import { insightLimits } from "./insight-limits.ts";
import { count } from "./atoms.ts";
import { sqlQuery } from "./sql-query.ts";

const { failuresMs, countedRowsMax, worstKindMs, worstKindMin } = insightLimits;

/**
 * The newest $2 dead letters, and of each whether its run tolerates it: a run does while no more of its jobs failed than its
 * `tolerate`, open or ended. Beyond $2 none counts as tolerated, so that an alarm rings rather than not.
 */
const deadLetters = `dead as materialized (
  select kind, run_id, finished_at from belfry.job where ${isFailed} order by id desc limit $2::int
), tolerated as materialized (
  select kind, finished_at from dead where run_id = any(array(
    select id from belfry.run where id = any(array(select distinct run_id from dead where run_id is not null))
      and tolerate > 0 and done - ok - skipped <= tolerate * total
  ))
)`;

const since = "date_trunc('minute', belfry.now() - $1::float8 * interval '1 millisecond')";

/**
 * One row: jobs by kind and runs that FAILED in the last $1 milliseconds, and of the newest $2 jobs that are FAILED those that wait
 * for a person; without those that their run tolerates. Jobs are those the roll-up has added up. Locks nothing.
 */
export const readFailures = sqlQuery("failures", {
  params: () => [failuresMs, countedRowsMax],
  row: z.object({ jobs: z.record(z.string(), count), runs: count, dead: count }),
})(`
with recursive ${deadLetters}, retention as (${retentionOfRuns}), failed as (
  select kind, sum(failed) - (select count(*) from tolerated t where t.kind = m.kind and t.finished_at >= ${since}) as jobs
  from belfry.minute m where at >= ${since} and failed > 0 group by kind
)
select
  (select coalesce(jsonb_object_agg(kind, jobs), '{}') from failed where jobs > 0) as jobs,
  (select count(*)::int from retention x cross join lateral (
    select state from belfry.run
    where retention_ms = x.retention_ms and finished_at is not null
      and finished_at >= belfry.now() - $1::float8 * interval '1 millisecond'
    order by finished_at desc limit $2
  ) ended where state = 'FAILED') as runs,
  ((select count(*) from dead) - (select count(*) from tolerated))::int as dead`);

/**
 * The kind with the largest share of each, in percent, over the last $1 milliseconds: of those with $3 such events, a slow attempt
 * or late start counting from the first one on. A failure that its run tolerates is none. Locks nothing.
 */
export const readWorstKinds = sqlQuery("worst-kinds", {
  params: () => [worstKindMs, countedRowsMax, worstKindMin],
  row: z.object({
    what: z.enum(["failed", "items.failed", "slow", "late", "lock.failed"]),
    kind: z.string(),
    percent: z.number().min(0),
  }),
})(`
with ${deadLetters}, counted as (
  select kind, sum(failed) - (select count(*) from tolerated t where t.kind = m.kind and t.finished_at >= ${since}) as failed,
    sum(failed + succeeded) as ended, sum(items_failed) as items_failed, sum(items) as items,
    sum(slow) as slow, sum(succeeded + failed + retried) as attempts, sum(late) as late, sum(started) as started,
    sum(lock_failed) as lock_failed, sum(locked + lock_failed) as locked
  from belfry.minute m where at >= ${since} group by kind
)
select distinct on (what) what, kind, (100.0 * part / whole)::float8 as percent
from counted cross join lateral (values
  ('failed', failed, ended, $3), ('items.failed', items_failed, items, 1), ('slow', slow, attempts, 1),
  ('late', late, started, 1), ('lock.failed', lock_failed, locked, $3)
) as share (what, part, whole, least)
where part >= least and whole > 0
order by what, percent desc, kind`);
