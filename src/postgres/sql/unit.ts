import { nextUnit } from "../../admission/slots.ts";
import type { UnitTaken } from "../../machine/slot-store.ts";
import { statement } from "../statement.ts";

/**
 * The one that may take a unit of the rate of this key, until its transaction ends: the statement behind it sees what the one before took.
 * Also makes the slots of a key that has none. $1 key. Locks: an advisory lock of the key, waiting; then only new rows.
 */
export const lockUnits = statement<never>("unit-lock")(`
with made as (
  insert into belfry.slot (key, n, made_at)
  select $1, n, case n when 1 then belfry.now() end
  from belfry.slot_group g cross join lateral generate_series(1, g.size) as n
  where g.key = belfry.rule_of($1) and g.key <> $1 and not exists (select from belfry.slot s where s.key = $1 and s.n = g.size)
  on conflict (key, n) do nothing
)
select pg_advisory_xact_lock(hashtextextended('belfry unit ' || $1, 0))`);

/** `isWaitedFor`: jobs wait for the key, and one of them may get the unit behind it. */
type UnitRow = Omit<UnitTaken, "aftermath"> & { readonly isWaitedFor: boolean };

/**
 * Takes the next unit of the rate of this key, spent from the time when it is back; or says when the next one may be. No row: there is no
 * such rate. $1 key $2 ms until which it must be back. Locks: one slot, SKIP LOCKED.
 */
export const takeUnit = statement<UnitRow>("unit-take")(`
with ${nextUnit("$1", "$2")}
select belfry.ms(at) as at, greatest(0, belfry.ms_until(at)) as "waitMs", "isTaken", "isWaitedFor" from answer where at is not null`);
