import { keptStatement } from "../statement.ts";

/** One row for all jobs: reading a row each costs the client as much as half of writing it. Lists are joined by commas. */
export interface InsertedRow {
  /** The ids drawn for all jobs, in the order given; those of jobs that were left out are not used. */
  readonly drawn: string;
  /** The ids of the jobs that were written, and beside them their generations, delays and hand-off rows. */
  readonly ids: string | null;
  readonly generations: string | null;
  readonly delays_ms: string | null;
  readonly outbox: string | null;
}

/**
 * Inserts up to 1,000 jobs (ids in the order they are given), one event each, and one hand-off row for each lane with
 * rows that are due in time. Arrays may be shorter than $1: one element stands for all rows, none for null in all of them.
 * Locks: the unique entries of its keys, in (key, kind) order, so that two callers with the same keys cannot deadlock
 * (the key first: it differs most, and a sort compares less).
 * A key that exists, or that another open transaction is inserting, is left out: it is looked up by a second
 * statement, since this one cannot see what committed after it began.
 */
export const insertJobs = keptStatement<InsertedRow>(
  "insert",
  `
with given as materialized (
  select nextval('belfry.job_id_seq') as id, v.ord, v.payload, v.hash, v.key, v.expires, v.slot_keys,
    coalesce(v.kind, ($7::text[])[1]) as kind, coalesce(v.lane, ($8::text[])[1]) as lane,
    coalesce(v.lease_ms, ($9::int[])[1]) as lease_ms, coalesce(v.max_attempts, ($10::int[])[1]) as max_attempts,
    coalesce(v.retention_ms, ($11::bigint[])[1]) as retention_ms, coalesce(v.trace, ($12::text[])[1]) as trace,
    coalesce(belfry.at(v.due), belfry.now()) + belfry.span(coalesce(v.delay, ($13::float8[])[1])) as due_at
  from unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::float8[], $6::text[], $7::text[], $8::text[],
    $9::int[], $10::int[], $11::bigint[], $12::text[], $13::float8[]) with ordinality
    as v (payload, hash, key, due, expires, slot_keys, kind, lane, lease_ms, max_attempts, retention_ms, trace, delay, ord)
), inserted as (
  insert into belfry.job (id, kind, key, payload, payload_hash, lane, state, due_at, expires_at, generation, handed_at,
    lease_ms, max_attempts, retention_ms, slot_keys, trace, created_at)
  overriding system value
  select id, kind, key, payload::jsonb, decode(hash, 'hex'), lane,
    case when due_at <= belfry.now() + belfry.span($14::float8) then 'QUEUED' else 'PENDING' end::belfry.job_state,
    due_at, belfry.at(expires),
    (due_at <= belfry.now() + belfry.span($14::float8))::int,
    case when due_at <= belfry.now() + belfry.span($14::float8) then belfry.now() end,
    lease_ms, max_attempts, retention_ms, slot_keys::text[], trace, belfry.now()
  from given
  order by key collate "C", kind collate "C", ord
  on conflict (kind, key) where key is not null do nothing
  returning id, lane, state, generation, due_at
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation)
  select id, belfry.now(), null, state, 0, generation from inserted
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select belfry.now(), lane, array_agg(id), array_agg(generation)
  from inserted where state = 'QUEUED' group by lane
  returning id, lane
)
select (select string_agg(id::text, ',' order by ord) from given) as drawn, string_agg(i.id::text, ',') as ids,
  string_agg(i.generation::text, ',') as generations, string_agg(belfry.ms_until(i.due_at)::text, ',') as delays_ms,
  string_agg(coalesce(h.id::text, ''), ',') as outbox
from inserted i left join handed h on h.lane = i.lane and i.state = 'QUEUED'`,
);

/** The rows that already have these keys. Locks nothing; sees what committed while `insert` ran. */
export const findKeys = keptStatement<{ ord: string; id: string; hash: string }>(
  "find-keys",
  `
select v.ord, j.id, encode(j.payload_hash, 'hex') as hash
from unnest($1::text[], $2::text[]) with ordinality as v (kind, key, ord)
cross join lateral (
  select id, payload_hash from belfry.job where job.kind = v.kind and job.key = v.key limit 1
) j`,
);
