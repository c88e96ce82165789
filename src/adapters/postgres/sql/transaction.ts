import { statement } from "../statement.ts";

/** Two statements in one round trip. Takes no locks. The id is what `transactionStatus` asks about later. */
export const beginTransaction = statement<{ xid: string }>(
  "begin",
  "begin isolation level read committed; select pg_current_xact_id()::text as xid",
);

/** `committed`, `aborted` or `in progress`; null when it is too old. Takes no locks. */
export const transactionStatus = statement<{ status: string | null }>(
  "transaction-status",
  "select pg_xact_status($1::xid8) as status",
);

export const selectNow = statement<{ now: number }>("now", "select belfry.ms(belfry.now()) as now");

/** For this transaction. $1 with its unit. Takes no locks. */
export const setLockTimeout = statement<never>("lock-timeout", "select set_config('lock_timeout', $1, true)");
