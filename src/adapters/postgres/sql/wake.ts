import { statement } from "../statement.ts";
import { dispatch, type DispatchedRow } from "./dispatch.ts";

const room = `select g.key, (
    select count(*) from belfry.slot s
    where s.key = g.key and s.n between 1 and g.size and (s.job_id is null or s.free_from <= belfry.now())
  ) as free
  from belfry.slot_group g`;

/** Held rows are reached by their key in `job_wait`; the hold is their own, so their state is only read. */
const mine = `mine as materialized (
  select j.id, j.state, j.due_at, null::text as reason, case j.state when 'PENDING' then 1 else 2 end as kind
  from room cross join lateral (
    select id, state, due_at from belfry.job
    where held_on = room.key and dispatched_at is null and finished_at is null and not blocked
    order by due_at, id limit room.free
    for no key update skip locked
  ) j
  limit $1
)`;

/**
 * Held rows of these keys -> QUEUED, as many as there are free slots. Run after the commit that freed or was refused a
 * slot: a new snapshot closes the race "freed while I was being held". $1 limit $2 keys.
 * Locks: jobs, SKIP LOCKED, in (key, due_at, id) order; slots are only looked at, since the claim takes them.
 */
export const wakeKeys = statement<DispatchedRow>(
  "wake",
  `
with room as materialized (
  ${room} where g.key = any($2::text[])
), ${mine}, ${dispatch}`,
);

/** As `wake`, for every group that has held rows: the safety net of the pass. $1 limit. */
export const wakeAll = statement<DispatchedRow>(
  "wake-all",
  `
with room as materialized (
  ${room}
  where (
    select true from belfry.job where held_on = g.key and dispatched_at is null and finished_at is null and not blocked limit 1
  )
), ${mine}, ${dispatch}`,
);
