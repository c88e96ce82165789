import { heldInOrder, isWaiting, orderOf } from "../../admission/order.ts";
import { reserveSlots } from "../../admission/slots.ts";
import { keptForAnySize, keptStatement } from "../statement.ts";
import { dispatchAnswer, type DispatchedRow, dispatchParts } from "./dispatch.ts";
import { placeOf } from "./pass-place.ts";

/** A job that was dispatched, or the key that one waited for and the one that it waits for now. */
export type WokenRow =
  | (DispatchedRow & { readonly own: null; readonly key: null })
  | { readonly id: null; readonly own: string; readonly key: string };

/**
 * Held rows of these keys -> QUEUED, those that get all their slots. Run after the commit that freed or was refused a
 * slot: a new snapshot closes the race "freed while I was being held". $1 keys $2 limit $3 jobs looked at beyond the free slots $4 how
 * many ms before it is back a unit of a rate is given.
 * Locks: jobs, SKIP LOCKED, in (key, due_at, id) order; then free slots, SKIP LOCKED, which are reserved.
 */
export const wakeKeys = keptStatement<WokenRow>("wake")(`
with recursive ${reserveSlots({ keys: "$1", limit: "$2", more: "$3", aheadMs: "$4" })}, ${dispatchParts()}
select id, generation, lane, trace, delay_ms, batch, null as own, null as key from (
  ${dispatchAnswer} order by ${orderOf("m")}
) d
union all
select null, null, null, null, null, null, own, key from elsewhere`);

/** Those of the keys $1 that a row is held for: `wake` of the others would cost as much as a claim and find nothing. Locks nothing. */
export const waitedFor = keptForAnySize<{ keys: string[] }>("waited-for")(`
select coalesce(array_agg(k.key), '{}') as keys
from unnest((select $1::text[])) as k (key) cross join lateral (select from belfry.job where ${heldInOrder("k.key")} limit 1) h`);

/**
 * The next $1 keys that held rows wait for, behind the place of the pass before, by steps in `job_wait`. Locks nothing.
 */
export const heldKeys = keptStatement<{ keys: string[]; behind: string }>("held-keys")(`
with recursive place as materialized (${placeOf("wake")}
), held as (
  (select held_on from belfry.job where ${isWaiting} and held_on > (select behind from place) and held_on < 'turn:'
    order by held_on limit 1)
  union all
  select (select j.held_on from belfry.job j where j.held_on > h.held_on and j.held_on < 'turn:' and ${isWaiting} order by j.held_on limit 1)
  from held h where h.held_on is not null
)
select array(select held_on from held where held_on is not null limit $1) as keys, behind from place`);
