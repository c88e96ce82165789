import { statement } from "../statement.ts";

/**
 * The queue was seen empty twice: what was out and due all that time has no message. $1 lane $2 age in ms $3 limit.
 * Locks: jobs in (handed_at) order, SKIP LOCKED. The relay hands them off again under the new generation.
 */
export const requeueUnqueued = statement<{ id: string }>(
  "requeue-empty",
  `
with lost as materialized (
  select id from belfry.job
  where state = 'QUEUED' and lease_until is null and lane = $1
    and handed_at < belfry.now() - belfry.span($2::float8) and due_at < belfry.now() - belfry.span($2::float8)
  order by handed_at limit $3
  for no key update skip locked
), moved as (
  update belfry.job j set state = 'PENDING', generation = j.generation + 1
  from lost where j.id = lost.id
  returning j.id, j.generation, j.attempt
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, reason)
  select id, belfry.now(), 'QUEUED', 'PENDING', attempt, generation, 'message-lost' from moved
)
select id from moved`,
);

/** $1 oldest age in ms. Locks nothing. */
export const readSights = statement<{ lane: string; empty_ms: number }>(
  "requeue-sights",
  `
select lane, extract(epoch from belfry.now() - empty_since)::float8 * 1000 as empty_ms from belfry.queue_sight
where seen_at > belfry.now() - belfry.span($1::float8)`,
);

/** $1 lanes $2 ms. Locks: the rows in lane order. What is not named any more grows too old to be read. */
export const keepSights = statement<never>(
  "requeue-keep-sights",
  `
insert into belfry.queue_sight (lane, empty_since, seen_at)
select lane, belfry.now() - belfry.span(ms), belfry.now() from unnest($1::text[], $2::float8[]) as s (lane, ms)
order by lane
on conflict (lane) do update set empty_since = excluded.empty_since, seen_at = excluded.seen_at`,
);

/** What a queue may rightly count as delayed, in the order of `job_next`. $1 lane $2 since in ms $3 until in ms $4 limit. Locks nothing. */
export const countAhead = statement<{ n: number }>(
  "requeue-ahead",
  `
select count(*)::int as n from (
  select from belfry.job
  where state = 'QUEUED' and lease_until is null and lane = $1
    and due_at > belfry.now() - belfry.span($2::float8) and due_at < belfry.now() + belfry.span($3::float8)
  order by due_at limit $4
) ahead`,
);

/**
 * Messages sent much later already run: those sent before them are lost. The mark is 2 minutes before the 5th percentile
 * of the lane's running jobs, and the row must also be older than $2. It looks at $4 running jobs of all lanes at most:
 * filtered by lane inside, stale statistics would make it read the whole table. Locks as `requeue-empty`.
 */
export const requeueOvertaken = statement<{ id: string }>(
  "requeue-overtaken",
  `
with mark as materialized (
  select percentile_disc(0.05) within group (order by out_since) - interval '2 minutes' as at
  from (
    select lane, greatest(handed_at, due_at) as out_since from belfry.job
    where lease_until is not null
    order by lease_until limit $4
  ) running
  where lane = $1
), lost as materialized (
  select id from belfry.job
  where state = 'QUEUED' and lease_until is null and lane = $1
    and handed_at < least((select at from mark), belfry.now() - belfry.span($2::float8))
    and due_at < least((select at from mark), belfry.now() - belfry.span($2::float8))
    and (select at from mark) is not null
  order by handed_at limit $3
  for no key update skip locked
), moved as (
  update belfry.job j set state = 'PENDING', generation = j.generation + 1
  from lost where j.id = lost.id
  returning j.id, j.generation, j.attempt
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, reason)
  select id, belfry.now(), 'QUEUED', 'PENDING', attempt, generation, 'message-lost' from moved
)
select id from moved`,
);
