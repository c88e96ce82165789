import { heldInOrder, isWaiting } from "../../admission/order.ts";
import { reasons } from "../../machine/reasons.ts";
import type { Replaced } from "../../machine/slot-store.ts";
import { statement } from "../statement.ts";

/**
 * Under `cancel-running`: what a later time of its schedule replaces, once that was refused its start or has begun. Of a schedule's
 * jobs those are looked at that hold its slot or are held for it, those of its last $3 times, and $2, which were just claimed.
 * Backfilled jobs neither replace nor are replaced: a person asked for each of them.
 * $1 keys, or null: all that a job is held for $3 jobs of a kind. Locks nothing: what has ended since is not canceled.
 */
export const lookReplaced = statement<Replaced>("replaced")(`
with recursive held as (
  (select held_on as key from belfry.job where $1::text[] is null and ${isWaiting} and held_on > 'overlap:' and held_on < 'overlap;'
    order by held_on limit 1)
  union all
  select (select j.held_on from belfry.job j where j.held_on > h.key and j.held_on < 'overlap;' and ${isWaiting} order by j.held_on limit 1)
  from held h where h.key is not null
), keys as materialized (
  select key from belfry.slot_group
  where key = any(coalesce($1::text[], array(select key from held))) and reason = '${reasons.replaced}'
), holder as materialized (
  select s.key, s.job_id from keys k join belfry.slot s on s.key = k.key
  where s.n >= 1 and s.job_id is not null and (s.free_from is null or s.kept_for is not null)
), each as materialized (
  select k.key, j.id, j.state, j.finished_at, j.hold, j.held_on, coalesce(j.effective_at, j.scheduled_for, j.created_at) as at
  from keys k join belfry.job j on k.key = any(j.slot_keys) and j.id = any(array(
    select job_id from holder h where h.key = k.key
    union (select id from belfry.job where ${heldInOrder("k.key")} limit $3)
    union (select job_id from belfry.occurrence where schedule_id = substr(k.key, 9) and nominal_at <= belfry.now()
      order by nominal_at desc limit $3)
    union select unnest($2::bigint[])
  )) and not 'backfill:' || substr(k.key, 9) = any(j.slot_keys)
), latest as materialized (
  select distinct on (key) key, at, id from each e
  where state = 'RUNNING' or (finished_at is null and hold = 'slot' and not starts_with(held_on, 'turn:'))
    or exists (select from holder h where h.key = e.key and h.job_id = e.id)
  order by key, at desc, id desc
), earlier as materialized (
  select e.* from each e join latest l on l.key = e.key and (e.at, e.id) < (l.at, l.id)
)
select substr(l.key, 9) as schedule, belfry.ms(l.at) as at,
  array(select id::text from earlier e where e.key = l.key and e.finished_at is null order by id) as jobs,
  array(
    select r.id::text from holder h join earlier e on e.key = h.key and e.id = h.job_id join belfry.run r on r.starter_id = e.id
    where h.key = l.key and r.state = 'RUNNING'
  ) as runs
from latest l where exists (select from earlier e where e.key = l.key) order by l.key`);
