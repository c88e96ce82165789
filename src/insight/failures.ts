import { z } from "zod";
import { isFailed } from "../machine/job-columns.ts";
import { insightLimits } from "./insight-limits.ts";
import { count } from "./atoms.ts";
import { sqlQuery } from "./sql-query.ts";

const { failuresMs, countedRowsMax, worstKindMs, worstKindMin } = insightLimits;

/**
 * One row: jobs and runs that FAILED in the last $1 milliseconds, and jobs that are FAILED and wait for a person, $2 of each at
 * most. Jobs are those the roll-up has added up. Locks nothing.
 */
export const readFailures = sqlQuery("failures", {
  sql: `
select
  (select coalesce(sum(failed), 0)::float8 from belfry.minute
    where at >= date_trunc('minute', belfry.now() - $1::float8 * interval '1 millisecond')) as jobs,
  (with recursive kept (ms) as (
    select min(retention_ms) from belfry.run where finished_at is not null
    union all
    select (select min(retention_ms) from belfry.run where finished_at is not null and retention_ms > kept.ms)
    from kept where kept.ms is not null
  )
  select count(*)::int from kept cross join lateral (
    select state from belfry.run
    where retention_ms = kept.ms and finished_at is not null
      and finished_at >= belfry.now() - $1::float8 * interval '1 millisecond'
    order by finished_at desc limit $2
  ) ended where state = 'FAILED') as runs,
  (select count(*)::int from (
    select from belfry.job where ${isFailed} order by id desc limit $2
  ) dead) as dead`,
  params: () => [failuresMs, countedRowsMax],
  row: z.object({ jobs: count, runs: count, dead: count }),
});

/**
 * The kind with the largest share of each, in percent, over the last $1 milliseconds: of those with $2 such events, a slow attempt
 * or late start counting from the first one on. Locks nothing.
 */
export const readWorstKinds = sqlQuery("worst-kinds", {
  sql: `
with counted as (
  select kind, sum(failed) as failed, sum(failed + succeeded) as ended, sum(items_failed) as items_failed, sum(items) as items,
    sum(slow) as slow, sum(succeeded + failed + retried) as attempts, sum(late) as late, sum(started) as started,
    sum(lock_failed) as lock_failed, sum(locked + lock_failed) as locked
  from belfry.minute
  where at >= date_trunc('minute', belfry.now() - $1::float8 * interval '1 millisecond')
  group by kind
)
select distinct on (what) what, kind, (100.0 * part / whole)::float8 as percent
from counted cross join lateral (values
  ('failed', failed, ended, $2), ('items.failed', items_failed, items, 1), ('slow', slow, attempts, 1),
  ('late', late, started, 1), ('lock.failed', lock_failed, locked, $2)
) as share (what, part, whole, least)
where part >= least and whole > 0
order by what, percent desc, kind`,
  params: () => [worstKindMs, worstKindMin],
  row: z.object({
    what: z.enum(["failed", "items.failed", "slow", "late", "lock.failed"]),
    kind: z.string(),
    percent: z.number().min(0),
  }),
});
