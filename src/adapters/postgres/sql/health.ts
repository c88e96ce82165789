import type { WorstIn } from "../../../core/ports/overview.ts";
import { statement } from "../statement.ts";
import { isFailed } from "./job-columns.ts";

/**
 * Occurrences PLANNED for longer than $1 milliseconds and runs open for longer than $4, $2 of each at most; the largest share of
 * dead rows among tables that have $3 of them; how far the clock stands behind the newest decision, which no clock that only goes
 * forwards does; and the oldest transaction, by the machine's own time: only sessions of the same user show theirs. Locks nothing.
 */
export const readHealth = statement<{
  now: number;
  overdue: number;
  long_runs: number;
  dead_percent: number;
  oldest_ms: number;
  behind_ms: number;
}>(
  "health",
  `
select belfry.ms(belfry.now()) as now,
  (select count(*)::int from (
    select from belfry.occurrence
    where outcome = 'PLANNED' and nominal_at < belfry.now() - $1::float8 * interval '1 millisecond' limit $2
  ) overdue) as overdue,
  (select count(*)::int from (
    select created_at from belfry.run where state in ('RUNNING', 'CANCELING') order by id limit $2
  ) oldest where created_at < belfry.now() - $4::float8 * interval '1 millisecond') as long_runs,
  coalesce((
    select max(100.0 * n_dead_tup / (n_live_tup + n_dead_tup)) from pg_stat_user_tables
    where schemaname = 'belfry' and n_dead_tup >= $3::bigint
  ), 0)::float8 as dead_percent,
  coalesce((select belfry.ms_until(max(decided_at)) from belfry.occurrence where decided_at is not null), 0)::float8 as behind_ms,
  coalesce((
    select max(extract(epoch from clock_timestamp() - xact_start)) * 1000 from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_xmin is not null
  ), 0)::float8 as oldest_ms`,
);

/**
 * How far the clock stands behind the newest decision or the last pass, and by lane the messages of open batches that were sent
 * again more than once: of $1 such batches at most. Locks nothing.
 */
export const readTrouble = statement<{ behind_ms: number; lanes: string[]; messages: number[] }>(
  "trouble",
  `
select greatest(
    (select belfry.ms_until(max(decided_at)) from belfry.occurrence where decided_at is not null),
    (select extract(epoch from max(passed_at) - belfry.clock()) * 1000 from belfry.lock_fence), 0
  )::float8 as behind_ms,
  coalesce(array_agg(lane order by lane), '{}') as lanes, coalesce(array_agg(messages order by lane), '{}') as messages
from (
  select lane, sum(cardinality(job_ids))::float8 as messages
  from (select lane, job_ids from belfry.outbox where resent > 1 order by at, id limit $1) resent
  group by lane
) by_lane`,
);

export interface WorstRow {
  readonly what: WorstIn;
  readonly kind: string;
  readonly percent: number;
}

/**
 * Jobs and runs that FAILED in the last $1 milliseconds and jobs that are FAILED, $2 of each at most. Jobs are those the
 * roll-up has added up. Locks nothing.
 */
export const readFailures = statement<{ jobs: number; runs: number; dead: number }>(
  "failures",
  `
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
);

/**
 * The kind with the largest share of each, in percent, over the last $1 milliseconds: of those with $2 such events, a slow attempt
 * or late start counting from the first one on. Locks nothing.
 */
export const readWorstKinds = statement<WorstRow>(
  "worst-kinds",
  `
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
);

/** The least that a sort may have, for this transaction. Locks nothing. */
export const keepSortsSmall = statement<never>("probe-memory", "select set_config('work_mem', '64kB', true)");

/** Sorts more than fits: the server writes some 300 kB of temporary pages, and says so where its disk is full. Locks nothing. */
export const spill = statement<{ n: number }>(
  "probe-disk",
  "select count(*)::int as n from (select g from generate_series(1, 20000) g order by -g) sorted",
);
