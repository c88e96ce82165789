/**
 * The units of caps, rates, locks and overlap rules: slot rows that a claim takes and a wake keeps for the jobs that it sends. One of a
 * group with a window (a rate) is spent by a start: no job has it, and it is free again after the window.
 */
import { contractLimits } from "../machine/contract-limits.ts";
import type { JobId, SlotGroup } from "../machine/job.ts";
import { piece } from "../machine/wait-texts.ts";
import type { BoundedCount } from "../machine/waiting.ts";
import type { WaitingView, Wait } from "./gate.ts";
import { heldInOrder, inOrder, isBefore, isWaiting, orderOf } from "./order.ts";

/** Whether the slots of a group are made for each of its keys: no slot has the group's own key. */
export const isByKey = ({ key }: Pick<SlotGroup, "key">): boolean => /^(cap|rate):[^#]*#$/.test(key);

/** Whether slot `s` is not spent, or not left to a canceled job's handler, at that time. */
const isBack = (by = "belfry.now()"): string => `coalesce(s.free_from <= ${by}, true)`;

/**
 * Whether slot `s` may be taken by then: it is back, and no job has it, or a canceled one had it, or the job that it was
 * reserved for is no longer QUEUED under that generation. A lower generation is that of a snapshot before the reservation: a
 * row lock reads the slot as it is now, and the job as it was.
 */
const isFree = (
  by?: string,
): string => `(${isBack(by)} and (s.job_id is null or (s.kept_for is null and s.attempt is not null and s.free_from is not null)
      or (s.kept_for is not null and not exists (
      select from belfry.job r where r.id = s.job_id
        and (r.generation < s.kept_for or (r.generation = s.kept_for and r.state = 'QUEUED'))))))`;

/** `rows` free slots of `wanted` (key, size, window_ms, rows) each, by turn. Locks: slots with SKIP LOCKED. */
const freeSlots = (
  wanted: string,
  { by, order }: { readonly by?: string; readonly order: string },
): string => `select s.key, s.n, s.free_from, row_number() over (partition by s.key order by ${order}) as turn
  from (${wanted}) w
  cross join lateral (
    select key, n, free_from from belfry.slot s
    where s.key = w.key and n between 1 and w.size and ${isFree(by)}
    order by ${order} limit w.rows
    for no key update of s skip locked
  ) s`;

/**
 * Who of `contending` gets a unit of each of its keys, the earliest first, all or nothing: a job that lacks one takes none.
 * `room`: the free units of each key by its index. `blames`: a condition over `contending`, which keys may refuse the job.
 */
const allotment = (blames: string): string => `ranked as materialized (
  select id, array_agg(idx) as idxs, array_agg(idx) filter (where ${blames}) as needs, array_agg(idx) filter (where behind) as behind,
    row_number() over (${inOrder}) as nth
  from contending group by id, due_at
), allot (nth, units, id, lacking) as (
  select 0::bigint, (select array_agg(free order by idx)::int[] from room), null::bigint, null::int[]
  union all
  select r.nth, case when l.lacking is null then (
      select array_agg(u - (i = any(r.idxs))::int order by i) from unnest(a.units) with ordinality as x (u, i)
    ) else a.units end, r.id, l.lacking
  from allot a join ranked r on r.nth = a.nth + 1
  cross join lateral (
    select array_agg(i) as lacking from unnest(r.needs) as i where a.units[i] <= 0 or i = any(r.behind)
  ) l
), given as materialized (
  select c.id, c.key, c.window_ms, row_number() over (partition by c.key order by ${orderOf("c")}) as turn
  from contending c join allot a on a.id = c.id where a.lacking is null
)`;

/**
 * Which jobs of `mine` that no state gate refused (`judged`) get all their slots: `reserved`, `got`, `refused`, `seat`. No job
 * takes a free slot while an earlier one is held for its key, unless a refusal skips it. Slot 0 of a queue-one group is the
 * single waiting seat: the first refused job takes it and is held, further ones are SKIPPED. It is freed when its holder runs
 * or ends. Nothing is decided while a slot of a key is `unmade`: asked without EXISTS, which may read all slots. `generations`:
 * the parameter of those in the messages, by their place in `ids`.
 */
export const allotSlots = (ids: string, generations: string): string => `reserved as materialized (
  select s.key, s.n, s.job_id as id, s.free_from from belfry.slot s
  where s.job_id = any(array(select id from mine)) and s.kept_for = (${generations}::int[])[width_bucket(s.job_id, ${ids}::bigint[])]
    and ${isBack()}
), wanted as materialized (
  select j.id, j.due_at, k.key, k.place, g.size, g.window_ms, g.reason, r.n as kept_n, dense_rank() over (order by k.key)::int as idx,
    g.on_refusal = 'hold' and g.reason <> 'slot' as is_bounded, case when j.catch_up then 'hold' else g.on_refusal end as on_refusal,
    g.key <> k.key and (select s.n from belfry.slot s where s.key = k.key and s.n = g.size) is null as is_unmade
  from judged j cross join lateral unnest(j.slot_keys) with ordinality as k (key, place)
  left join belfry.slot_group g on g.key = belfry.rule_of(k.key)
  left join reserved r on r.id = j.id and r.key = k.key
  where j.skip is null
), unmade as materialized (
  select coalesce(bool_or(is_unmade), false) as is_any from wanted
), first_held as materialized (
  select w.key, h.due_at, h.id from (select distinct key from wanted where kept_n is null) w
  cross join lateral (
    select due_at, id from belfry.job where ${heldInOrder("w.key")} limit 1
  ) h
), contending as materialized (
  select w.id, w.due_at, w.key, w.idx, w.size, w.window_ms,
    h.id is not null and w.on_refusal is distinct from 'skip' and not ${isBefore("w", "h")} as behind
  from wanted w left join first_held h on h.key = w.key cross join unmade u
  where w.kept_n is null and not u.is_any
), free as materialized (
  ${freeSlots("select key, size, count(*) as rows from contending where size is not null and not behind group by key, size", { order: "s.n" })}
), room as materialized (
  select w.idx, (select count(*) from free f where f.key = w.key) as free from (select distinct idx, key from wanted) w
), ${allotment("true")}, got as materialized (
  select c.id, f.key, f.n, c.window_ms from given c join free f on f.key = c.key and f.turn = c.turn
  union all
  select id, key, kept_n, window_ms from wanted where kept_n is not null
), refused as materialized (
  select w.*, case when is_bounded then row_number() over (partition by w.key order by ${orderOf("w")}) > ${contractLimits.overlapWaitingMax} - (
    select count(*) from (select from belfry.job where ${heldInOrder("w.key")} limit ${contractLimits.overlapWaitingMax}) h
  ) end as is_full
  from allot a join wanted w on w.id = a.id and w.idx = any(a.lacking)
), seat as materialized (
  select s.key, (
    select r.id from refused r where r.key = s.key and r.on_refusal = 'queue-one'
      and not exists (select from refused o where o.id = r.id and o.on_refusal = 'skip')
    order by coalesce(r.id = s.job_id, false) desc, ${orderOf("r")} limit 1
  ) as taker
  from (select distinct key from refused where on_refusal = 'queue-one') w
  cross join lateral (
    select key, job_id from belfry.slot
    where slot.key = w.key and n = 0 and (job_id is null or job_id = any(array(select id from mine)))
    for no key update skip locked
  ) s
)`;

/** What the slots say about each refused job: the key that it is held for, and why it is skipped instead. */
export const slotRefusals = `select r.id, (array_agg(r.key order by r.place))[1] as held_on,
      min(r.reason) filter (where r.on_refusal = 'skip' or r.is_full
        or (r.on_refusal = 'queue-one' and s.taker is distinct from r.id)) as skip
    from refused r left join seat s on s.key = r.key group by r.id`;

/**
 * Writes the slots by `verdict` (id, state, attempt) of every job of `mine`. A window begins when its slot is locked, not with the
 * statement: claims that wait for rows would else start twice as many in a moment. A unit that was kept and is not used stays what it was.
 */
export const takeSlots = `place as materialized (
  select got.key, got.n, case when got.window_ms is null then got.id end as job_id,
    case when got.window_ms is null then v.attempt + 1 end as attempt, belfry.now() + belfry.waited() + belfry.span(got.window_ms) as free_from
  from got join verdict v on v.id = got.id where v.state = 'RUNNING'
  union all
  select r.key, r.n, null, null, r.free_from from reserved r join verdict v on v.id = r.id where v.state <> 'RUNNING'
  union all
  select seat.key, 0, seat.taker, null, null from seat join verdict v on v.id = seat.taker where v.state = 'PENDING'
  union all
  select s.key, 0, null, null, null from belfry.slot s
  where s.n = 0 and s.job_id = any(array(select id from verdict where state <> 'PENDING'))
    and not exists (select from seat join verdict v on v.id = seat.taker where seat.key = s.key and v.state = 'PENDING')
), placed as (
  update belfry.slot s set job_id = p.job_id, attempt = p.attempt, kept_for = null, free_from = p.free_from
  from place p where s.key = p.key and s.n = p.n
)`;

/**
 * `mine`: of the jobs that are held for these keys the earliest that get all their slots, which are kept for their claim: a newer
 * job whose message comes first must not take them. A unit of a rate counts so many ms before it is back, as its job is sent with a
 * delay and due when it is. One that lacks another slot waits for that from here on (`elsewhere`): no message, no event, no
 * generation. What only skips a job is left to its claim. A slot that is not made yet counts as free, and the
 * claim makes it. `more`: how many jobs beyond the free slots of a key are looked at. The hold is their own, so their state is only read.
 */
export const reserveSlots = ({ limit, keys, more, aheadMs }: ReserveParameters): string => `called as materialized (
  select k.key, g.size - (
    select count(*) from belfry.slot s where s.key = k.key and s.n between 1 and g.size and ${isFree(soon("g", aheadMs))} is not true
  ) as free
  from unnest(${keys}::text[]) with ordinality as k (key, place) join belfry.slot_group g on g.key = belfry.rule_of(k.key)
  order by k.place
), held as materialized (
  select j.*, called.key as own from called cross join lateral (
    select id, state, due_at, attempt, generation, catch_up, slot_keys from belfry.job where ${heldInOrder("called.key")}
    limit case when called.free > 0 then called.free + ${more}::int else 0 end
    for no key update skip locked
  ) j
  limit ${limit}
), wanted as materialized (
  select h.id, h.due_at, h.own, k.key, k.place, g.size, g.window_ms, g.key <> k.key as is_made, dense_rank() over (order by k.key)::int as idx,
    k.key = h.own or h.catch_up or g.on_refusal = 'hold' as is_firm
  from held h cross join lateral unnest(h.slot_keys) with ordinality as k (key, place)
  join belfry.slot_group g on g.key = belfry.rule_of(k.key)
), first_held as materialized (
  select w.key, h.due_at, h.id from (select distinct key from wanted where key <> own and is_firm) w
  cross join lateral (
    select due_at, id from belfry.job where id <> all(array(select id from held)) and ${heldInOrder("w.key")} limit 1
  ) h
), contending as materialized (
  select w.*, h.id is not null and w.key <> w.own and w.is_firm and not ${isBefore("w", "h")} as behind
  from wanted w left join first_held h on h.key = w.key
), spare as materialized (
  ${freeSlots("select key, size, window_ms, count(*) as rows from contending group by key, size, window_ms", {
    by: soon("w", aheadMs),
    order: "s.free_from nulls first, s.n",
  })}
), room as materialized (
  select w.idx, (select count(*) from spare s where s.key = w.key) + case when w.is_made then
    w.size - (select count(*) from belfry.slot s where s.key = w.key and s.n between 1 and w.size) else 0 end as free
  from (select distinct idx, key, size, is_made from wanted) w
), ${allotment("is_firm")}, units as materialized (
  select c.id, p.key, p.n, p.free_from, c.window_ms from given c join spare p on p.key = c.key and p.turn = c.turn
), mine as materialized (
  select h.id, h.state, greatest(h.due_at, (select max(free_from) from units u where u.id = h.id and u.free_from > belfry.now())) as due_at,
    h.attempt, h.generation, null::text as reason, case h.state when 'PENDING' then 1 else 2 end as kind
  from held h join allot a on a.id = h.id where a.lacking is null
), reserved as (
  update belfry.slot s set job_id = m.id, attempt = m.attempt + 1, kept_for = m.generation + 1,
    free_from = case when u.window_ms is not null then u.free_from end
  from units u join mine m on m.id = u.id
  where s.key = u.key and s.n = u.n
), elsewhere as (
  update belfry.job j set held_on = e.key from (
    select c.id, c.own, (array_agg(c.key order by c.place))[1] as key
    from allot a join contending c on c.id = a.id and c.idx = any(a.lacking)
    group by c.id, c.own having not bool_or(c.key = c.own)
  ) e where j.id = e.id
  returning e.own, e.key
)`;

/**
 * `answer`: the earliest unit of a rate that is back within so many ms, spent from then on; else the time of the next one. What is kept for a
 * waiting job is its own: of that counts the time after it.
 */
export const nextUnit = (key: string, withinMs: string): string => `rule as materialized (
  select ${key}::text as key, size, window_ms, 1 as rows from belfry.slot_group where key = belfry.rule_of(${key}) and window_ms is not null
), unit as materialized (
  ${freeSlots("select * from rule", { by: `belfry.now() + belfry.span(${withinMs}::float8)`, order: "s.free_from nulls first, s.n" })}
), spent as (
  update belfry.slot s set job_id = null, attempt = null, kept_for = null,
    free_from = greatest(u.free_from, belfry.now() + belfry.waited()) + belfry.span(r.window_ms)
  from unit u cross join rule r where s.key = u.key and s.n = u.n
  returning s.free_from - belfry.span(r.window_ms) as at
), answer as (
  select coalesce(t.at, l.at) as at, t.at is not null as "isTaken",
    exists (select from belfry.job where held_on = ${key} and ${isWaiting}) as "isWaitedFor"
  from (
    select min(greatest(s.free_from, belfry.now()) + belfry.span(case when s.kept_for is null then 0 else r.window_ms end)) as at
    from rule r join belfry.slot s on s.key = r.key and s.n between 1 and r.size
  ) l left join spent t on true
)`;

interface ReserveParameters {
  readonly limit: string;
  readonly keys: string;
  readonly more: string;
  readonly aheadMs: string;
}

/** Up to when a unit of this group may come back and be kept now. */
const soon = (group: string, aheadMs: string): string =>
  `belfry.now() + belfry.span(case when ${group}.window_ms is null then 0 else ${aheadMs}::float8 end)`;

export const countText = ({ count, isMore }: BoundedCount): string => (isMore ? `more than ${count}` : String(count));

/** What explains a job that is held for a slot of such a key. */
export const waitsForSlot = (prefix: string) =>
  ({
    cause: "slot",
    why({ job, facts, slot }: WaitingView): Wait | null {
      if (job.hold !== "slot" || job.heldOn?.startsWith(`${prefix}:`) !== true) return null;
      const of = { key: job.heldOn, before: countText(facts.heldBefore) };
      return {
        pieces: [
          slot === null ? piece("slotUnknown", of) : piece("slot", { ...of, taken: slot.taken, size: slot.size }),
        ],
        waitsFor: slot?.holders.map(({ job }) => job as JobId) ?? [],
      };
    },
  }) as const;

/** The same for a place of a computed key, which is what people know of it. */
export const waitsForPlace = {
  cause: "slot",
  why({ job, facts, slot }: WaitingView): Wait | null {
    const { heldOn } = job;
    if (job.hold !== "slot" || heldOn?.startsWith("cap:") !== true || !heldOn.includes("#")) return null;
    const of = { key: heldOn.slice(heldOn.indexOf("#") + 1), before: countText(facts.heldBefore) };
    const unknown = slot === null ? piece("placeUnknown", of) : null;
    return {
      pieces: [
        unknown ?? (slot?.size === 1 ? piece("onePlace", of) : piece("place", { ...of, size: slot?.size ?? 0 })),
      ],
      waitsFor: slot?.holders.map(({ job }) => job as JobId) ?? [],
    };
  },
} as const;
