import { keptStatement } from "../statement.ts";

/** The columns of a new job, in the order of every `unnest` that carries new jobs. */
export interface InsertedRow {
  readonly ord: string;
  readonly id: string;
  readonly generation: number;
  readonly delay_ms: number;
  readonly handoff: string | null;
}

/**
 * Inserts up to 1,000 jobs (ids in the order they are given), one event each, and one hand-off row for each lane with rows that are due in time.
 * Locks: the unique entries of its keys, in (kind, key) order, so that two callers with the same keys cannot deadlock.
 * A key that exists, or that another open transaction is inserting, is left out: it is looked up by a second
 * statement, since this one cannot see what committed after it began.
 */
export const insertJobs = keptStatement<InsertedRow>(
  "insert",
  `
with given as materialized (
  select nextval('belfry.job_id_seq') as id, v.*, coalesce(belfry.at(v.due), belfry.now()) + belfry.span(v.delay) as due_at
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::float8[],
    $9::int[], $10::int[], $11::bigint[], $12::text[], $13::text[]) with ordinality
    as v (kind, key, payload, hash, lane, due, delay, expires, lease_ms, max_attempts, retention_ms, slot_keys, trace, ord)
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
  order by kind collate "C", key collate "C", ord
  on conflict (kind, key) where key is not null do nothing
  returning id, lane, state, generation, due_at
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation)
  select id, belfry.now(), null, state, 0, generation from inserted order by id
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select belfry.now(), lane, array_agg(id order by id), array_agg(generation order by id)
  from inserted where state = 'QUEUED' group by lane
  returning id, lane
)
select g.ord, i.id, i.generation, belfry.ms_until(i.due_at) as delay_ms, h.id as handoff
from inserted i join given g on g.id = i.id left join handed h on h.lane = i.lane and i.state = 'QUEUED'
order by i.id`,
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
