import { escapeLiteral } from "pg";
import type { Fence } from "../../machine/fence.ts";
import { statement } from "../statement.ts";

export interface Begun {
  readonly xid: string;
  /** By the server's clock. */
  readonly at: string;
  /** Where the server listens, and when it started. */
  readonly server: string;
}

const server = "concat_ws(' ', inet_server_addr(), inet_server_port(), pg_postmaster_start_time())";

const began = `select pg_current_xact_id()::text as xid, now()::text as at, ${server} as server`;

/** Two statements in one round trip. Takes no locks. The answer is what `transactionStatus` asks about later. */
export const beginTransaction = statement<Begun>("begin")(`begin isolation level read committed; ${began}`);

/**
 * The same and the fence's check. Locks: the advisory lock of the name, shared, so that a newer token waits for the transaction's
 * end. The check is a statement behind it, because it must see what was installed while the lock waited.
 */
export const beginFenced = ({ name, token }: Fence): string =>
  statement<Begun & { valid: boolean }>("begin-fenced")(
    `begin isolation level read committed; select pg_advisory_xact_lock_shared(hashtextextended('belfry.fence:' || ${escapeLiteral(name)}, 0)); ` +
      `${began}, exists (select from belfry.lock_fence where name = ${escapeLiteral(name)} and token = ${BigInt(token)}) as valid`,
  ).text;

/**
 * `committed`, `aborted` or `in progress`; null when it cannot be known. A server that crashed, or a replica that took over, gives
 * the ids again whose records were lost: an id counts only on the server that gave it, and only if that one has not recovered
 * since, which resets its statistics. Takes no locks. $1 xid $2 when it began $3 the server.
 */
export const transactionStatus = statement<{ status: string | null }>("transaction-status")(`
select case
  when ${server} = $3 and (select stats_reset from pg_stat_wal) < $2::timestamptz then pg_xact_status($1::text::xid8)
end as status`);

export const selectNow = statement<{ now: number }>("now")("select belfry.ms(belfry.now()) as now");

/** For this transaction. $1 with its unit. Takes no locks. */
export const setLockTimeout = statement<never>("lock-timeout")("select set_config('lock_timeout', $1, true)");
