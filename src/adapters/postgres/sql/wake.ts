import { statement } from "../statement.ts";
import { dispatch, type DispatchedRow } from "./dispatch.ts";
import { isWaiting } from "./job-columns.ts";
import { placeOf } from "./pass-place.ts";
import { freeSlots, isFree } from "./slot.ts";

/**
 * Held rows are reached by their key in `job_wait`; the hold is their own, so their state is only read. Each gets a slot that
 * is kept for its claim: a newer job whose message comes first must not take it.
 */
const mine = `held as materialized (
  select j.*, room.key, room.size, row_number() over (partition by room.key order by j.due_at, j.id) as turn
  from room cross join lateral (
    select id, state, due_at, attempt, generation from belfry.job
    where held_on = room.key and dispatched_at is null and finished_at is null and not blocked
    order by due_at, id limit room.free
    for no key update skip locked
  ) j
  limit $1
), spare as materialized (
  ${freeSlots("select key, size, count(*) as rows from held group by key, size")}
), mine as materialized (
  select h.id, h.state, h.due_at, h.attempt, h.generation, s.key, s.n, null::text as reason,
    case h.state when 'PENDING' then 1 else 2 end as kind
  from held h join spare s on s.key = h.key and s.turn = h.turn
), reserved as (
  update belfry.slot s set job_id = m.id, attempt = m.attempt + 1, kept_for = m.generation + 1, free_from = null
  from mine m where s.key = m.key and s.n = m.n
)`;

/**
 * Held rows of these keys -> QUEUED, as many as there are free slots. Run after the commit that freed or was refused a
 * slot: a new snapshot closes the race "freed while I was being held". $1 limit $2 keys.
 * Locks: jobs, SKIP LOCKED, in (key, due_at, id) order; then free slots, SKIP LOCKED, which are reserved.
 */
export const wakeKeys = statement<DispatchedRow>(
  "wake",
  `
with room as materialized (
  select g.key, g.size, (
    select count(*) from belfry.slot s where s.key = g.key and s.n between 1 and g.size and ${isFree}
  ) as free
  from belfry.slot_group g where g.key = any($2::text[])
), ${mine}, ${dispatch()}`,
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
