import { isWaiting } from "../../admission/order.ts";
import { reserveSlots } from "../../admission/slots.ts";
import { statement } from "../statement.ts";
import { dispatch, type DispatchedRow } from "./dispatch.ts";
import { placeOf } from "./pass-place.ts";

/**
 * Held rows of these keys -> QUEUED, as many as there are free slots. Run after the commit that freed or was refused a
 * slot: a new snapshot closes the race "freed while I was being held". $1 limit $2 keys.
 * Locks: jobs, SKIP LOCKED, in (key, due_at, id) order; then free slots, SKIP LOCKED, which are reserved.
 */
export const wakeKeys = statement<DispatchedRow>(
  "wake",
  `
with ${reserveSlots("$1", "$2")}, ${dispatch()}`,
);

/**
 * The next $1 keys that held rows wait for, behind the place of the pass before, by steps in `job_wait`. Locks nothing.
 */
export const heldKeys = statement<{ keys: string[]; behind: string }>(
  "held-keys",
  `
with recursive place as materialized (${placeOf("wake")}
), held as (
  (select held_on from belfry.job where ${isWaiting} and held_on > (select behind from place) order by held_on limit 1)
  union all
  select (select j.held_on from belfry.job j where j.held_on > h.held_on and ${isWaiting} order by j.held_on limit 1)
  from held h where h.held_on is not null
)
select array(select held_on from held where held_on is not null limit $1) as keys, behind from place`,
);
