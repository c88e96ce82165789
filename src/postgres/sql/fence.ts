import { statement } from "../statement.ts";

/** Locks: the advisory lock of the name, alone, before the row is written. */
export const lockFence = statement<never>("fence-lock")(
  "select pg_advisory_xact_lock(hashtextextended('belfry.fence:' || $1, 0))",
);

/** Raises the token, never lowers it, and returns the one before. Locks one row, under the advisory lock. */
export const raiseFence = statement<{ before: string }>("fence-raise")(`
with raised as (
  insert into belfry.lock_fence as f (name, token, installed_at) values ($1, $2::bigint, belfry.now())
  on conflict (name) do update set token = excluded.token, installed_at = excluded.installed_at
  where excluded.token > f.token
)
select coalesce((select token from belfry.lock_fence where name = $1), 0)::text as before`);

/** A pass ended under this token, and each of its steps succeeded. Judged by real time. Locks the one row. */
export const writePassed = statement<never>("fence-passed")(
  "update belfry.lock_fence set passed_at = belfry.clock() where name = $1 and token = $2::bigint",
);

/**
 * Ends sessions that hold the name's lock in a transaction in which nothing happens: a stopped process must not
 * keep a new holder out. A session that runs a statement is not ended. Takes no locks.
 */
export const endIdleHolders = statement<{ ended: boolean }>("fence-end-idle")(`
select pg_terminate_backend(l.pid) as ended
from pg_locks l join pg_stat_activity a on a.pid = l.pid
where l.locktype = 'advisory' and l.granted and l.pid <> pg_backend_pid()
  and l.database = (select oid from pg_database where datname = current_database())
  and l.objsubid = 1
  and (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended('belfry.fence:' || $1, 0)
  and a.state in ('idle in transaction', 'idle in transaction (aborted)')
  and a.state_change < clock_timestamp() - $2::float8 * interval '1 millisecond'`);

/**
 * Takes the fallback lock if it is free, expired, or already this owner's. The fence is above every known token. Locks the one
 * row; returns nothing when another owner holds it. Judged by real time.
 */
export const acquireFallback = statement<{ fence: string }>("fallback-lock-acquire")(`
insert into belfry.fallback_lock as s (name, owner, fence, lease_until)
values ($1, $2, coalesce((select token from belfry.lock_fence where name = $1), 0) + 1, belfry.clock() + belfry.span($3::float8))
on conflict (name) do update set
  owner = excluded.owner,
  fence = greatest(s.fence + 1, excluded.fence),
  lease_until = excluded.lease_until
where s.owner is null or s.lease_until <= belfry.clock() or s.owner = excluded.owner
returning fence`);

export const fallbackHolder = statement<{ owner: string | null }>("fallback-lock-holder")(
  "select owner from belfry.fallback_lock where name = $1",
);

/** Locks the one row. Conditioned on owner and fence. */
export const renewFallback = statement<{ name: string }>("fallback-lock-renew")(`
update belfry.fallback_lock set lease_until = belfry.clock() + belfry.span($4::float8)
where name = $1 and owner = $2 and fence = $3::bigint
returning name`);

/** Locks the one row. Keeps it and its fence: only the owner goes. */
export const releaseFallback = statement<never>("fallback-lock-release")(
  "update belfry.fallback_lock set owner = null where name = $1 and owner = $2 and fence = $3::bigint",
);
