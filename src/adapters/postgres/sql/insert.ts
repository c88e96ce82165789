import { keptForAnySize, keptStatement } from "../statement.ts";
import { events, outbox, unexplained } from "./record.ts";

/** One row for all jobs, with comma-joined lists: a row for each would cost the client half as much as the write. */
export interface InsertedRow {
  /** The ids drawn for all jobs, in the order given; those of jobs that were left out are not used. */
  readonly drawn: string;
  /** The ids of the jobs that were written, and beside them their generations, delays and outbox batches. */
  readonly ids: string | null;
  readonly generations: string | null;
  readonly delays_ms: string | null;
  readonly outbox: string | null;
}

/**
 * Inserts up to 1,000 jobs (ids in the order they are given) with their events, and one outbox batch for each lane with rows
 * that are due within the dispatch window. Arrays may be shorter than $1: one element stands for all rows, none for null in all of them.
 * For a page of a fan-out also $15 its run and $16 the rows for their conditions.
 * Locks: the unique entries of its keys, in (key, kind) order, so that two callers with the same keys cannot deadlock
 * (the key first: it differs most, and a sort compares less).
 * A key that exists, or that another open transaction is inserting, is left out: it is looked up by a second
 * statement, since this one cannot see what committed after it began.
 */
export const insertJobs = keptForAnySize<InsertedRow>(
  "insert",
  `
with given as materialized (
  select nextval('belfry.job_id_seq') as id, v.ord, v.payload, v.hash, v.key, v.expires, v.slot_keys, v.condition_row,
    coalesce(v.kind, ($7::text[])[1]) as kind, coalesce(v.lane, ($8::text[])[1]) as lane,
    coalesce(v.lease_ms, ($9::int[])[1]) as lease_ms, coalesce(v.max_attempts, ($10::int[])[1]) as max_attempts,
    coalesce(v.retention_ms, ($11::bigint[])[1]) as retention_ms, coalesce(v.trace, ($12::text[])[1]) as trace,
    coalesce(belfry.at(v.due), belfry.now()) + belfry.span(coalesce(v.delay, ($13::float8[])[1])) as due_at
  from unnest($1::text[], $2::text[], $3::text[], $4::float8[], $5::float8[], $6::text[], $7::text[], $8::text[],
    $9::int[], $10::int[], $11::bigint[], $12::text[], $13::float8[], $16::text[]) with ordinality
    as v (payload, hash, key, due, expires, slot_keys, kind, lane, lease_ms, max_attempts, retention_ms, trace, delay,
      condition_row, ord)
), drawn as materialized (
  select belfry.next_event() as pending, belfry.next_event() as queued
), inserted as (
  insert into belfry.job (id, kind, key, payload, payload_hash, lane, state, event_id, due_at, expires_at, generation,
    dispatched_at, lease_ms, max_attempts, retention_ms, slot_keys, trace, created_at, run_id, condition_row, has_condition)
  overriding system value
  select g.id, kind, key, payload::jsonb, decode(hash, 'hex'), lane,
    case when is_due then 'QUEUED' else 'PENDING' end::belfry.job_state, case when is_due then d.queued else d.pending end,
    due_at, belfry.at(expires), is_due::int, case when is_due then belfry.now() end,
    lease_ms, max_attempts, retention_ms, slot_keys::text[], trace, belfry.now(), $15::bigint, condition_row::jsonb,
    condition_row is not null
  from (select *, due_at <= belfry.now() + belfry.span($14::float8) as is_due from given) g cross join drawn d
  order by key collate "C", kind collate "C", ord
  on conflict (kind, key) where key is not null do nothing
  returning event_id, id, lane, state, attempt, generation, due_at
), moves as (
  select event_id, id, null::belfry.job_state as from_state, state as to_state, attempt, generation, lane, ${unexplained} from inserted
), ${events}, ${outbox}
select (select string_agg(id::text, ',' order by ord) from given) as drawn, string_agg(i.id::text, ',') as ids,
  string_agg(i.generation::text, ',') as generations, string_agg(belfry.ms_until(i.due_at)::text, ',') as delays_ms,
  string_agg(coalesce(o.id::text, ''), ',') as outbox
from inserted i left join posted o on o.lane = i.lane and i.state = 'QUEUED'`,
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
