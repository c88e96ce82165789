/** The units of caps, locks and overlap rules: slot rows that a claim takes and a wake keeps for the jobs that it sends. */
import type { JobId } from "../machine/job.ts";
import type { BoundedCount } from "../machine/waiting.ts";
import type { WaitingView, Wait } from "./gate.ts";
import { heldInOrder, isBefore, orderOf } from "./order.ts";

/**
 * Whether slot `s` may be taken: no job has it, a canceled job's handler must be gone by now, or the job that it was
 * reserved for is no longer QUEUED under that generation. A lower generation is that of a snapshot before the reservation: a
 * row lock reads the slot as it is now, and the job as it was.
 */
const isFree = `(s.job_id is null or s.free_from <= belfry.now() or (s.kept_for is not null and not exists (
      select from belfry.job r where r.id = s.job_id
        and (r.generation < s.kept_for or (r.generation = s.kept_for and r.state = 'QUEUED')))))`;

/** `n` free slots of `wanted` (key, size, rows) each, by turn. Locks: slots with SKIP LOCKED. */
const freeSlots = (
  wanted: string,
): string => `select s.key, s.n, row_number() over (partition by s.key order by s.n) as turn
  from (${wanted}) w
  cross join lateral (
    select key, n from belfry.slot s
    where s.key = w.key and n between 1 and w.size and ${isFree}
    order by n limit w.rows
    for no key update of s skip locked
  ) s`;

/**
 * Which jobs of `mine` that no state gate refused (`judged`) get all their slots: `reserved`, `got`, `refused`, `seat`. No job
 * takes a free slot while an earlier one is held for its key, unless a refusal skips it. Slot 0 of a queue-one group is the
 * single waiting seat: the first refused job takes it and is held, further ones are SKIPPED. It is freed when its holder runs
 * or ends. `generations`: the parameter of those in the messages, by their place in `ids`.
 */
export const allotSlots = (ids: string, generations: string): string => `reserved as materialized (
  select s.key, s.n, s.job_id as id from belfry.slot s
  where s.job_id = any(array(select id from mine)) and s.kept_for = (${generations}::int[])[width_bucket(s.job_id, ${ids}::bigint[])]
), wanted as materialized (
  select j.id, j.due_at, k.key, k.place, g.size, g.reason, r.n as kept_n,
    case when j.catch_up then 'hold' else g.on_refusal end as on_refusal
  from judged j cross join lateral unnest(j.slot_keys) with ordinality as k (key, place)
  left join belfry.slot_group g on g.key = k.key
  left join reserved r on r.id = j.id and r.key = k.key
  where j.skip is null
), first_held as materialized (
  select w.key, h.due_at, h.id from (select distinct key from wanted where kept_n is null) w
  cross join lateral (
    select due_at, id from belfry.job where ${heldInOrder("w.key")} limit 1
  ) h
), contending as materialized (
  select w.id, w.key, w.size, row_number() over (partition by w.key order by ${orderOf("w")}) as turn
  from wanted w left join first_held h on h.key = w.key
  where w.kept_n is null and (h.id is null or w.on_refusal = 'skip' or ${isBefore("w", "h")})
), free as materialized (
  ${freeSlots("select key, size, count(*) as rows from contending where size is not null group by key, size")}
), got as materialized (
  select c.id, f.key, f.n from contending c join free f on f.key = c.key and f.turn = c.turn
  union all
  select id, key, kept_n from wanted where kept_n is not null
), refused as materialized (
  select w.* from wanted w where not exists (select from got where got.id = w.id and got.key = w.key)
), seat as materialized (
  select s.key, (
    select r.id from refused r where r.key = s.key and r.on_refusal = 'queue-one'
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
      min(r.reason) filter (where r.on_refusal = 'skip'
        or (r.on_refusal = 'queue-one' and s.taker is distinct from r.id)) as skip
    from refused r left join seat s on s.key = r.key group by r.id`;

/** Writes the slots by `verdict` (id, state, attempt) of every job of `mine`. */
export const takeSlots = `place as materialized (
  select got.key, got.n, got.id as job_id, v.attempt + 1 as attempt
  from got join verdict v on v.id = got.id where v.state = 'RUNNING'
  union all
  select r.key, r.n, null, null from reserved r join verdict v on v.id = r.id where v.state <> 'RUNNING'
  union all
  select seat.key, 0, seat.taker, null from seat join verdict v on v.id = seat.taker where v.state = 'PENDING'
  union all
  select s.key, 0, null, null from belfry.slot s
  where s.n = 0 and s.job_id = any(array(select id from verdict where state <> 'PENDING'))
    and not exists (select from seat join verdict v on v.id = seat.taker where seat.key = s.key and v.state = 'PENDING')
), placed as (
  update belfry.slot s set job_id = p.job_id, attempt = p.attempt, kept_for = null, free_from = null
  from place p where s.key = p.key and s.n = p.n
)`;

/**
 * `mine`: of the jobs that are held for these keys the earliest, one for each free slot, which is kept for the job's claim: a
 * newer job whose message comes first must not take it. The hold is their own, so their state is only read.
 */
export const reserveSlots = (limit: string, keys: string): string => `room as materialized (
  select g.key, g.size, (
    select count(*) from belfry.slot s where s.key = g.key and s.n between 1 and g.size and ${isFree}
  ) as free
  from belfry.slot_group g where g.key = any(${keys}::text[])
), held as materialized (
  select j.*, room.key, room.size, row_number() over (partition by room.key order by ${orderOf("j")}) as turn
  from room cross join lateral (
    select id, state, due_at, attempt, generation from belfry.job where ${heldInOrder("room.key")} limit room.free
    for no key update skip locked
  ) j
  limit ${limit}
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

export const countText = ({ count, isMore }: BoundedCount): string => (isMore ? `more than ${count}` : String(count));

/** What explains a job that is held for a slot of such a key. */
export const waitsForSlot = (prefix: string) =>
  ({
    cause: "slot",
    why({ job, facts, slot }: WaitingView): Wait | null {
      if (job.hold !== "slot" || job.heldOn?.startsWith(`${prefix}:`) !== true) return null;
      const taken = slot === null ? "all" : `${slot.taken} of ${slot.size}`;
      return {
        sentence: `it waits for a slot of ${job.heldOn}: ${taken} are taken, ${countText(facts.heldBefore)} wait longer`,
        waitsFor: slot?.holders.map(({ job }) => job as JobId) ?? [],
      };
    },
  }) as const;
