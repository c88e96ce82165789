import { statement } from "../statement.ts";

/**
 * Occurrences PLANNED for longer than $1 milliseconds, $2 at most; the largest share of dead rows among tables that have $3
 * of them; how far the clock stands behind the newest decision, which no clock that only goes forwards does; and the oldest transaction, by the machine's own time: only sessions of our own user show theirs. Locks nothing.
 */
export const readHealth = statement<{
  now: number;
  overdue: number;
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
