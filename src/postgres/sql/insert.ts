import { heldInOrder } from "../../admission/order.ts";
import type { NewJob } from "../../machine/job.ts";
import { reasons } from "../../machine/reasons.ts";
import { keptForAnySize, keptStatement, payloadTexts } from "../statement.ts";

/** One row for all jobs, with comma-joined lists: a row for each would cost the client half as much as the write. */
export interface InsertedRow {
  /** The ids drawn for all jobs, in the order given, when some were left out. */
  readonly drawn: string | null;
  /** The ids of the jobs that were written, rising, which is the order given. Null: none was. */
  readonly ids: string | null;
  /** By policy: milliseconds until its jobs are due, or empty when they are not QUEUED. */
  readonly delays_ms: string;
  /** The outbox batch of each lane. */
  readonly batches: Readonly<Record<string, string>> | null;
  /** By policy: the key that its jobs begin held on. */
  readonly held?: readonly (string | null)[];
}

/** One event row for PENDING and one for QUEUED, of the jobs that a statement makes. `inserted`: event_id, id, state. */
export const firstEvents = `recorded as (
  insert into belfry.event (id, at, to_state, job_ids, attempts, generations)
  select event_id, belfry.now(), state, array_agg(id), array_fill(0, array[count(*)::int]),
    array_fill((state = 'QUEUED')::int, array[count(*)::int])
  from inserted group by event_id, state order by event_id
)`;

/**
 * What a statement writes beside the jobs it makes: their events, and an outbox batch for each lane. `inserted`: as above, and
 * lane. A new job is in its attempt 0, and in its generation 1 once it is QUEUED.
 */
export const firstMoves = `${firstEvents}, posted as (
  insert into belfry.outbox (at, lane, job_ids, generations)
  select belfry.now(), lane, array_agg(id), array_fill(1, array[count(*)::int])
  from inserted where state = 'QUEUED' group by lane
  returning id, lane
)`;

/** What differs between jobs that are dispatched when they are due and those that wait for their turn or a slot. */
interface Waits {
  readonly before: string;
  readonly given: string;
  readonly columns: string;
  readonly look: string;
  readonly isDue: string;
  readonly into: string;
  readonly values: string;
  readonly answer: string;
}
const forTime: Waits = { before: "", given: "", columns: "", look: "", isDue: "", into: "", values: "", answer: "" };
/**
 * A job that is due begins held for the first of its keys that an earlier job is held for, or that more jobs of this call need than
 * it has slots: its claim would hold it there. The wake after the commit sends those that get their slots. The lists are asked for by
 * a select, so that a plan expects as much of them as one for any list, and the kept one is used; each key is then found in one map, as
 * that plan would compare each policy with every key.
 */
const forSlot: Waits = {
  ...forTime,
  before: `needed as materialized (
  select k.key, k.jobs, g.size, (select due_at from belfry.job where ${heldInOrder("k.key")} limit 1) as held_due
  from (
    select key, sum(jobs) as jobs from unnest((select $11::text[]), (select $17::int[])) as p (slots, jobs)
    cross join lateral unnest(p.slots::text[]) as u (key) group by key
  ) k
  join belfry.slot_group g on g.key = belfry.rule_of(k.key) and g.on_refusal = 'hold' and g.reason = '${reasons.slot}'
), held_since as materialized (
  select jsonb_object_agg(key, case when jobs > size then '-infinity' else held_due end) as by_key
  from needed where jobs > size or held_due is not null
), `,
  look: ` left join lateral (
    select k.key as held_on from unnest(h.slots::text[]) with ordinality as k (key, place)
    where t.due_at <= belfry.now() and ((select by_key from held_since) ->> k.key)::timestamptz <= t.due_at
    order by k.place limit 1
  ) b on true`,
  isDue: " and b.held_on is null",
  into: ", hold, held_on",
  values: `,
    case when h.held_on is null then 'none' else 'slot' end::belfry.job_hold, coalesce(h.held_on, '')`,
  answer: `,
  (select array_agg(held_on order by nr) from how) as held`,
};
const forTurn: Waits = {
  ...forTime,
  given: ", $17::text[], $18::real[]",
  columns: ", turn, weight",
  isDue: " and h.turn is null",
  into: ", hold, held_on, turn, turn_weight",
  values: `,
    case when h.turn is null then 'none' else 'slot' end::belfry.job_hold, coalesce(h.turn, ''), h.turn, h.weight`,
};
const forBatch: Waits = {
  ...forTurn,
  given: `${forTurn.given}, $19::text[]`,
  columns: `${forTurn.columns}, batch`,
  into: `${forTurn.into}, batch_key`,
  values: `${forTurn.values}, h.batch`,
};

/** `$n` as below; `how` they are written: in which order, and what happens to a key that exists. */
const insertText = (how: string, waits: Waits = forTime): string => `
with ${waits.before}how as materialized (
  select *, h.slots::text[] as slot_keys, belfry.at(h.expires) as expires_at,
    t.due_at <= belfry.now() + belfry.span($15::float8)${waits.isDue} as is_due
  from unnest($5::text[], $6::text[], $7::int[], $8::int[], $9::bigint[], $10::text[], $11::text[], $12::float8[], $13::float8[],
    $14::float8[]${waits.given}) with ordinality
    as h (kind, lane, lease_ms, max_attempts, retention_ms, trace, slots, due, delay, expires${waits.columns}, nr)
  cross join lateral (select coalesce(belfry.at(h.due), belfry.now()) + belfry.span(h.delay) as due_at) t${waits.look}
), given as materialized (
  select nextval('belfry.job_id_seq') as id, v.*
  from unnest(string_to_array($1, chr(31)), $2::text[], $3::int[], $4::text[]) with ordinality
    as v (payload, key, how, condition_row, ord)
), drawn as materialized (
  select belfry.next_event() as pending, belfry.next_event() as queued
), inserted as (
  insert into belfry.job (id, kind, key, payload, lane, state, event_id, due_at, expires_at, generation,
    dispatched_at, lease_ms, max_attempts, retention_ms, slot_keys, trace, created_at, run_id, condition_row, has_condition${waits.into})
  overriding system value
  select g.id, h.kind, g.key, g.payload::jsonb, h.lane,
    case when h.is_due then 'QUEUED' else 'PENDING' end::belfry.job_state, case when h.is_due then d.queued else d.pending end,
    h.due_at, h.expires_at, h.is_due::int, case when h.is_due then belfry.now() end,
    h.lease_ms, h.max_attempts, h.retention_ms, h.slot_keys, h.trace, belfry.now(), $16::bigint, g.condition_row::jsonb,
    g.condition_row is not null${waits.values}
  from given g join how h on h.nr = coalesce(g.how, 1) cross join drawn d
  ${how}
  returning event_id, id, lane, state
), ${firstMoves}
select case when count(*) < (select count(*) from given) then (select string_agg(id::text, ',' order by ord) from given) end as drawn,
  string_agg(id::text, ',' order by id) as ids,
  (select string_agg(case when is_due then belfry.ms_until(due_at)::text else '' end, ',' order by nr) from how) as delays_ms,
  (select json_object_agg(lane, id::text) from posted) as batches${waits.answer}
from inserted`;

/**
 * Inserts up to 1,000 jobs without keys (ids in the order they are given) with their events, and one outbox batch for each lane
 * with rows that are due within the dispatch window. $1 payloads, between each two a unit separator $2 keys $3 which policy $4 rows
 * for the conditions of a page of a fan-out; the lists may be shorter: null in the other rows, and the first policy. What jobs
 * share comes once, by policy: $5 kinds $6 lanes $7 leases $8 attempts $9 retentions $10 traces $11 slot keys $12 due times
 * $13 delays $14 expiries. $15 dispatch window $16 run. Locks only new rows.
 */
export const insertJobs = keptForAnySize<InsertedRow>("insert")(insertText(""));

const byKey = `order by belfry.key_hash(h.kind, g.key), g.ord
  on conflict (belfry.key_hash(kind, key)) where key is not null do nothing`;

/**
 * The same, of which some have keys: looking for what exists costs each row more, also one without a key.
 * Locks: the unique entries of its keys, in the order of their hashes, so that two callers with the same keys cannot deadlock.
 * A key that exists, or that another open transaction is inserting, is left out: it is looked up by a second
 * statement, since this one cannot see what committed after it began.
 */
export const insertKeyedJobs = keptForAnySize<InsertedRow>("insert-keyed")(insertText(byKey));

/** The same, of which some need slots: $17 how many jobs a policy has. */
export const insertSlotJobs = keptForAnySize<InsertedRow>("insert-slots")(insertText(byKey, forSlot));

/** The same, of which some wait for their turn: $17 what they are held on $18 weights, by policy. */
export const insertTurnJobs = keptForAnySize<InsertedRow>("insert-turns")(insertText(byKey, forTurn));

/** The same, of which some wait for others of their batch: $19 its key, by policy. */
export const insertBatchJobs = keptForAnySize<InsertedRow>("insert-batch")(insertText(byKey, forBatch));

/** Where jobs stand in the order in which `insert` locks their keys, for several pages in one transaction. Locks nothing. */
export const orderKeys = keptForAnySize<{ ords: string }>("order-keys")(`
select string_agg(v.ord::text, ',' order by belfry.key_hash(v.kind, v.key), v.ord) as ords
from unnest($1::text[], $2::text[]) with ordinality as v (kind, key, ord)`);

/**
 * The rows that already have these keys, or the hash of them; `conflicts`: with another payload, or another key. What is sealed is
 * not compared: sealed twice, one payload has two texts.
 * Locks nothing; sees what committed while `insert` ran. $1 kinds $2 keys $3 payloads, between each two a unit separator
 */
export const findKeys = keptStatement<{ ord: string; id: string; conflicts: boolean }>("find-keys")(`
select v.ord, j.id, (j.kind, j.key) is distinct from (v.kind, v.key)
  or (j.payload is distinct from v.payload::jsonb and not (j.payload ? '$sealed' or v.payload::jsonb ? '$sealed')) as conflicts
from unnest($1::text[], $2::text[], string_to_array($3, chr(31))) with ordinality as v (kind, key, payload, ord)
cross join lateral (
  select id, kind, key, payload from belfry.job
  where belfry.key_hash(job.kind, job.key) = belfry.key_hash(v.kind, v.key) and job.key is not null limit 1
) j`);

/** What `find-keys` asks about. */
export const keyColumns = (jobs: readonly Pick<NewJob, "kind" | "key" | "payload">[]): unknown[] => [
  jobs.map(({ kind }) => kind),
  jobs.map(({ key }) => key),
  payloadTexts(jobs),
];
