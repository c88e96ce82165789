import type { Json } from "../../machine/job.ts";
import { keptForAnySize, statement } from "../statement.ts";

/** The burst of a key, while its job may still take another payload. */
export interface OpenBurst {
  readonly ord: string;
  readonly id: string;
  readonly payload: Json;
}

/**
 * $1 kinds $2 keys. Locks: their rows in (kind, key) order, waiting, so that two callers with the same keys cannot deadlock; `where false`
 * locks a row that exists and writes nothing. What they point to is read by the next statement: this one's snapshot may be older than its locks.
 */
export const lockBursts = keptForAnySize<never>("debounce-lock")(`
insert into belfry.debounce (kind, key, at)
select distinct kind, key, belfry.now() from unnest($1::text[], $2::text[]) as v (kind, key) order by kind, key
on conflict (kind, key) do update set at = excluded.at where false`);

/**
 * Jobs of these keys that wait and were never started. $1 kinds $2 keys. Locks: these jobs in id order, waiting, as a claim does: one
 * that it starts is left out.
 */
export const readBursts = keptForAnySize<OpenBurst>("debounce-look")(`
select v.ord, j.id, j.payload
from unnest($1::text[], $2::text[]) with ordinality as v (kind, key, ord)
join belfry.debounce d on d.kind = v.kind and d.key = v.key
join belfry.job j on j.id = d.job_id
where j.state in ('PENDING', 'QUEUED') and j.attempt = 0 and j.finished_at is null
order by j.id
for no key update of j`);

/**
 * Payload, count and due time of the bursts' jobs. One that is due already stays so: it waits for a worker, and is not put off. The
 * state, the generation and the message stay: one that comes too early is sent again for the new time. $1 jobs $2 kinds $3 keys
 * $4 payloads, null: as it is $5 calls that joined $6 `for` in ms $7 `max` in ms $8 whether its first call is among them.
 * Locks: jobs and keys that the caller has locked.
 */
export const writeBursts = keptForAnySize<never>("debounce-write")(`
with given as materialized (
  select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::int[], $6::float8[], $7::float8[], $8::boolean[])
    as v (id, kind, key, payload, joined, for_ms, max_ms, is_new)
), pointed as (
  update belfry.debounce d set job_id = g.id, at = belfry.now() from given g where g.is_new and d.kind = g.kind and d.key = g.key
)
update belfry.job j set payload = coalesce(g.payload::jsonb, j.payload), joined = coalesce(j.joined, 0) + g.joined,
  due_at_most = coalesce(j.due_at_most, j.created_at + belfry.span(g.max_ms)),
  due_at = case when g.is_new or j.due_at <= belfry.now() then j.due_at
    else greatest(j.due_at, least(belfry.now() + belfry.span(g.for_ms), j.due_at_most)) end
from given g where j.id = g.id`);

/** Keys whose burst has ended. $1 ms since it began $2 keys at most. Locks: them, SKIP LOCKED. */
export const forgetBursts = statement<never>("debounce-forget")(`
delete from belfry.debounce where (kind, key) in (
  select d.kind, d.key from belfry.debounce d
  where d.at < belfry.now() - belfry.span($1::float8)
    and not exists (select from belfry.job j where j.id = d.job_id and j.attempt = 0 and j.finished_at is null)
  order by d.at limit $2
  for update of d skip locked
)`);
