import { laneVerdict } from "../../admission/gates.ts";
import { inOrder, isWaiting, orderOf } from "../../admission/order.ts";
import { isOut } from "../../machine/job-columns.ts";
import { levels } from "../../machine/turn.ts";
import { statement } from "../statement.ts";
import { type DispatchedRow, dispatchParts, waitingKind } from "./dispatch.ts";
import { placeOf } from "./pass-place.ts";

/** $1 lanes $2 places $3 jobs that may be out $4 ms that one level is worth. Locks: the rows in lane order. */
export const writeTurnLanes = statement<never>("turn-lanes")(`
insert into belfry.turn_lane as l (lane, places, ahead, aging_ms)
select * from unnest($1::text[], $2::int[], $3::int[], $4::bigint[]) as v (lane, places, ahead, aging_ms) order by lane
on conflict (lane) do update set places = excluded.places, ahead = excluded.ahead, aging_ms = excluded.aging_ms
where (l.places, l.ahead, l.aging_ms) is distinct from (excluded.places, excluded.ahead, excluded.aging_ms)`);

/** The lane and the key in what a job is held on. A lane has no '#'; a key may. */
const laneIn = (heldOn: string): string => `substr(split_part(${heldOn}, '#', 1), 6)`;
const keyIn = (heldOn: string): string =>
  `substr(${heldOn}, length(split_part(${heldOn}, '#', 1)) + length(split_part(${heldOn}, '#', 2)) + 3)`;

/**
 * These keys wait. Each mark is counted, also of a key that waits: a dispatch whose snapshot is older than the job must not clear it. One
 * that comes back begins where its lane is: what it did not use is not saved up. $1 what their jobs are held on.
 * Locks: keys in (lane, key) order, waiting.
 */
export const markTurns = statement<{ lane: string }>("turn-mark")(`
with marked as (
  insert into belfry.turn as t (lane, key, pass, waits)
  select k.lane, k.key, coalesce(l.pass, 0), true
  from (select distinct ${laneIn("held_on")} as lane, ${keyIn("held_on")} as key from unnest($1::text[]) as v (held_on)) k
  left join belfry.turn_lane l on l.lane = k.lane
  order by k.lane, k.key
  on conflict (lane, key) do update set waits = true, marks = t.marks + 1,
    pass = case when t.waits then t.pass else greatest(t.pass, excluded.pass) end
  returning lane
)
select distinct lane from marked`);

/** Of $1 keys that jobs are held on, behind the place of the pass before, those with a due job that are not marked. Locks nothing. */
export const unmarkedTurns = statement<{ seen: number; last: string | null; unmarked: string[] }>("turn-unmarked")(`
with recursive place as materialized (${placeOf("turns")}
), held as (
  (select held_on, 1 as nth from belfry.job
    where ${isWaiting} and held_on >= 'turn:' and held_on < 'turn;' and held_on > (select behind from place) order by held_on limit 1)
  union all
  select (select j.held_on from belfry.job j where j.held_on > h.held_on and j.held_on < 'turn;' and ${isWaiting} order by j.held_on limit 1),
    h.nth + 1
  from held h where h.held_on is not null and h.nth < $1
), due as (
  select h.held_on, (
    select due_at from belfry.job j where j.held_on = h.held_on and ${isWaiting} order by ${orderOf("j")} limit 1
  ) <= belfry.now() as is_due
  from held h where h.held_on is not null
)
select count(*)::int as seen, max(held_on) as last, coalesce(array_agg(held_on) filter (where is_due and not exists (
  select from belfry.turn t where t.lane = ${laneIn("held_on")} and t.key = ${keyIn("held_on")} and t.waits
)), '{}') as unmarked
from due`);

/** How many jobs of lane `l` are out, as far as that matters. */
const outOf = (lane: string): string =>
  `(select count(*) from (select from belfry.job where lane = ${lane}.lane and ${isOut} limit ${lane}.ahead) o)::int`;

/**
 * Lanes with a key that waits and with room, which no gate closes. $1 lanes, null for all. $2 whether half of the places beyond the running
 * jobs must be free: one dispatch for several ends costs a fraction. Locks nothing.
 */
export const turnLanesOpen = statement<{ lane: string }>("turn-open")(`
select t.lane from belfry.turn_lane t
where ($1::text[] is null or t.lane = any($1))
  and exists (select from belfry.turn k where k.lane = t.lane and k.waits)
  and t.ahead - ${outOf("t")} >= case when $2::boolean then greatest(1, (t.ahead - t.places) / 2) else 1 end
  and not exists (select from belfry.lane l where l.name = t.lane and ${laneVerdict} is not null)
order by t.lane`);

/** $1 lane. Locks its row, waiting: what is out is counted by the statement behind it, which sees the dispatch that it waited for. */
export const lockTurnLane = statement<never>("turn-lock")(`
select from belfry.turn_lane where lane = $1 for no key update`);

const levelList = `array[${Object.values(levels).join(", ")}]`;

/**
 * The next jobs of lane $1 -> QUEUED, at most $2. Of the keys with the lowest pass the earliest jobs, each behind the pass by 1 / weight
 * for itself and those before it: the lowest of these are next. It reads as many keys as it dispatches jobs, and of each no
 * more than it can, however many there are. Run in the transaction that locked the lane.
 * Locks: keys in (lane, key) order, waiting for a mark; jobs, SKIP LOCKED.
 */
export const takeTurns = statement<DispatchedRow>("turn-take")(`
with room as materialized (
  select l.pass, l.aging_ms, greatest(0, least($2::int, l.ahead - ${outOf("l")})) as n from belfry.turn_lane l where l.lane = $1
), keys as materialized (
  select t.*, least(r.n, 1 + 1000 / count(*) over ()) as most from room r cross join lateral (
    select key, pass, marks from belfry.turn where lane = $1 and waits order by pass, key limit r.n
  ) t
), offered as materialized (
  select j.id, j.held_on, j.ranked_at, k.key,
    k.pass + sum(1 / coalesce(j.turn_weight, 1)::float8) over (partition by k.key order by j.ranked_at, j.id) as tag
  from room r cross join keys k cross join lateral (
    select w.*, w.due_at + v.level * belfry.span(r.aging_ms) as ranked_at
    from unnest(${levelList}) as v (level) cross join lateral (
      select id, held_on, due_at, turn_weight from belfry.job
      where held_on = 'turn:' || $1 || '#' || v.level || '#' || k.key and ${isWaiting} and due_at <= belfry.now()
      ${inOrder} limit k.most
    ) w
    order by ranked_at, id limit k.most
  ) j
), chosen as materialized (
  select * from offered order by tag, ranked_at, id limit (select n from room)
), mine as materialized (
  select j.id, j.state, j.due_at, null::text as reason, ${waitingKind}, c.key, c.tag
  from chosen c cross join lateral (
    select id, state, due_at from belfry.job where id = c.id and held_on = c.held_on and ${isWaiting} limit 1 for no key update skip locked
  ) j
), locked as materialized (
  select key from belfry.turn where lane = $1 and key = any(array(select key from keys)) order by key for no key update
), taken as (
  update belfry.turn t set pass = greatest(t.pass, k.tag), waits = k.is_left or t.marks <> k.marks
  from (
    select key, marks, (select max(tag) from mine m where m.key = keys.key) as tag,
      exists (select from offered o where o.key = keys.key) as is_left
    from keys where key = any(array(select key from locked))
  ) k
  where t.lane = $1 and t.key = k.key and (k.tag is not null or not k.is_left)
), moved_on as (
  update belfry.turn_lane set pass = greatest(pass, (select min(tag) from mine)) where lane = $1 and exists (select from mine)
), ${dispatchParts()}
select m.id, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, o.id as batch
from moved m join posted o on o.lane = m.lane join mine on mine.id = m.id
order by mine.tag, m.id`);

/** Keys that do not wait and are not ahead of their lane: one that comes back begins where it would have. $1 limit. Locks: them, SKIP LOCKED. */
export const forgetTurns = statement<never>("turn-forget")(`
delete from belfry.turn where (lane, key) in (
  select t.lane, t.key from belfry.turn t left join belfry.turn_lane l on l.lane = t.lane
  where not t.waits and t.pass <= coalesce(l.pass, t.pass)
  order by t.lane, t.key limit $1
  for update of t skip locked
)`);
