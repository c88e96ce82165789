import { statement } from "../statement.ts";

export interface Begun {
  readonly xid: string;
  /** By the server's clock. */
  readonly at: string;
}

/** Two statements in one round trip. Takes no locks. The answer is what `transactionStatus` asks about later. */
export const beginTransaction = statement<Begun>(
  "begin",
  "begin isolation level read committed; select pg_current_xact_id()::text as xid, now()::text as at",
);

/**
 * `committed`, `aborted` or `in progress`; null when that cannot be known. A server that crashed gives the ids again whose records
 * it lost: only ids below the one that its recovery ended with still mean the same transaction. That id stands in the first
 * checkpoint after the restart. Takes no locks. $1 xid $2 when it began.
 */
export const transactionStatus = statement<{ status: string | null }>(
  "transaction-status",
  `
with restart as (
  select greatest(pg_postmaster_start_time(), (select stats_reset from pg_stat_wal)) as at
), checkpoint as (
  select checkpoint_time as at, split_part(next_xid, ':', 1)::numeric * 4294967296 + split_part(next_xid, ':', 2)::numeric as next
  from pg_control_checkpoint()
)
select case
  when r.at < $2::timestamptz then pg_xact_status($1::text::xid8)
  when c.at < r.at + interval '20 seconds' and $1::text::numeric < c.next then pg_xact_status($1::text::xid8) end as status
from restart r cross join checkpoint c`,
);

export const selectNow = statement<{ now: number }>("now", "select belfry.ms(belfry.now()) as now");

/** For this transaction. $1 with its unit. Takes no locks. */
export const setLockTimeout = statement<never>("lock-timeout", "select set_config('lock_timeout', $1, true)");
