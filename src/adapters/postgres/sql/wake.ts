import { statement } from "../statement.ts";
import type { HandedRow } from "./relay.ts";

/**
 * Held rows of these keys -> QUEUED, as many as there are free slots. Run after the commit that freed or was refused a
 * slot: a new snapshot closes the race "freed while I was being held". $1 limit $2 keys.
 * Locks: jobs, SKIP LOCKED, in (key, due_at, id) order; slots are only looked at, since the claim takes them.
 */
export const wakeKeys = statement<HandedRow>(
  "wake",
  `
with room as materialized (
  select g.key, (
    select count(*) from belfry.slot s
    where s.key = g.key and s.n between 1 and g.size and (s.job_id is null or s.free_from <= belfry.now())
  ) as free
  from belfry.slot_group g where g.key = any($2::text[])
), held as materialized (
  select j.id from room cross join lateral (
    select id, due_at from belfry.job
    where hold = 'slot' and held_on = room.key
    order by due_at, id limit room.free
    for no key update skip locked
  ) j
  limit $1
), moved as (
  update belfry.job j set state = 'QUEUED', hold = 'none', held_on = null, generation = j.generation + 1,
    handed_at = belfry.now()
  from held where j.id = held.id
  returning j.id, j.generation, j.attempt, j.lane, j.trace, j.due_at
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation)
  select id, belfry.now(), 'PENDING', 'QUEUED', attempt, generation from moved
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select belfry.now(), lane, array_agg(id order by due_at, id), array_agg(generation order by due_at, id)
  from moved group by lane
  returning id, lane
)
select m.id, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, h.id as handoff
from moved m join handed h on h.lane = m.lane
order by m.due_at, m.id`,
);

/** As `wake`, for every group that has held rows: the safety net of the pass. $1 limit. */
export const wakeAll = statement<HandedRow>(
  "wake-all",
  `
with room as materialized (
  select g.key, (
    select count(*) from belfry.slot s
    where s.key = g.key and s.n between 1 and g.size and (s.job_id is null or s.free_from <= belfry.now())
  ) as free
  from belfry.slot_group g
  where (select true from belfry.job where hold = 'slot' and held_on = g.key limit 1)
), held as materialized (
  select j.id from room cross join lateral (
    select id, due_at from belfry.job
    where hold = 'slot' and held_on = room.key
    order by due_at, id limit room.free
    for no key update skip locked
  ) j
  limit $1
), moved as (
  update belfry.job j set state = 'QUEUED', hold = 'none', held_on = null, generation = j.generation + 1,
    handed_at = belfry.now()
  from held where j.id = held.id
  returning j.id, j.generation, j.attempt, j.lane, j.trace, j.due_at
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation)
  select id, belfry.now(), 'PENDING', 'QUEUED', attempt, generation from moved
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select belfry.now(), lane, array_agg(id order by due_at, id), array_agg(generation order by due_at, id)
  from moved group by lane
  returning id, lane
)
select m.id, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, h.id as handoff
from moved m join handed h on h.lane = m.lane
order by m.due_at, m.id`,
);
