import { againHeld } from "../../admission/order.ts";
import { keptStatement, statement } from "../statement.ts";
import { putBack } from "./put-back.ts";

/**
 * Jobs whose message lies in an open batch of lane $1 were never sent, so they cannot be lost: rows of (id, generation). It reads
 * at most `batches` of them. Null when there are more, and then nothing counts as lost: sending them comes first.
 */
const unsent = (batches: string): string => `open as materialized (
  select job_ids, generations from belfry.outbox where lane = $1 order by at, id limit ${batches}::int + 1
), unsent as materialized (
  select m.id, m.generation from open cross join lateral unnest(job_ids, generations) as m (id, generation)
  where (select count(*) from open) <= ${batches}::int
)`;
const isSent = (batches: string): string => `(select count(*) from open) <= ${batches}::int
    and (id, generation) not in (select id, generation from unsent)`;

/**
 * The queue was seen empty twice: rows that were dispatched and due all that time have no message. $1 lane $2 age in ms $3 limit
 * $4 batches read.
 * Locks: jobs in (dispatched_at) order, SKIP LOCKED. The relay dispatches them again under the new generation.
 */
export const requeueUnqueued = statement<{ id: string }>("requeue-empty")(`
with ${unsent("$4")}, mine as materialized (
  select id, ${againHeld}, 'message-lost' as reason from belfry.job
  where state = 'QUEUED' and dispatched_at is not null and finished_at is null and lane = $1
    and dispatched_at < belfry.now() - belfry.span($2::float8) and due_at < belfry.now() - belfry.span($2::float8)
    and ${isSent("$4")}
  order by dispatched_at limit $3
  for no key update skip locked
), ${putBack}`);

/** $1 oldest age in ms. Locks nothing. */
export const readObservations = statement<{ lane: string; emptyMs: number }>("requeue-observations")(`
select lane, extract(epoch from belfry.now() - empty_since)::float8 * 1000 as "emptyMs" from belfry.queue_observation
where seen_at > belfry.now() - belfry.span($1::float8)`);

/** $1 lanes $2 ms. Locks: the rows in lane order. Rows that are no longer named become too old to be read. */
export const writeObservations = statement<never>("requeue-save-observations")(`
insert into belfry.queue_observation (lane, empty_since, seen_at)
select lane, belfry.now() - belfry.span(ms), belfry.now() from unnest($1::text[], $2::float8[]) as s (lane, ms)
order by lane
on conflict (lane) do update set empty_since = excluded.empty_since, seen_at = excluded.seen_at`);

/**
 * Messages that a queue may rightly count as delayed, of those sent within its longest delay. Run while the queue shows no
 * visible message. $1 lane $2 since in ms $3 until in ms
 * $4 limit. Locks nothing.
 */
export const countNotYetDue = statement<{ n: number }>("requeue-not-yet-due")(`
select count(*)::int as n from (
  select from belfry.job
  where state = 'QUEUED' and dispatched_at is not null and finished_at is null and lane = $1
    and dispatched_at > belfry.now() - belfry.span($2::float8 + $3::float8) and due_at > belfry.now() - belfry.span($2::float8) and due_at < belfry.now() + belfry.span($3::float8)
  limit $4
) ahead`);

/**
 * Messages sent much later were claimed already: those sent before them are lost. The mark is $5 before the 5th
 * percentile of what the lane runs and of its newest claims, since short jobs seldom run at the moment of the look. The row
 * must also be older than $2. It looks at $4 jobs of each and $6 events at most,
 * and only when a row is old enough. $7 batches read. Locks as `requeue-empty`.
 */
export const requeueOvertaken = keptStatement<{ id: string }>("requeue-overtaken")(`
with mark as materialized (
  select percentile_disc(0.05) within group (order by out_since) - belfry.span($5::float8) as at
  from (
    select greatest(dispatched_at, due_at) as out_since from belfry.job
    where lane = $1 and started_at >= greatest(dispatched_at, due_at) and id = any(array(
      (select unnest(job_ids) from (select job_ids from belfry.lease where lane = $1 order by until limit $4) l limit $4)
      union
      (select unnest(job_ids) from (select job_ids, to_state from belfry.event order by xid desc, id desc limit $6) e
        where to_state = 'RUNNING' limit $4)
    ))
  ) claimed
  where exists (
    select from belfry.job where state = 'QUEUED' and dispatched_at is not null and finished_at is null and lane = $1
      and dispatched_at < belfry.now() - belfry.span($2::float8)
  )
), ${unsent("$7")}, mine as materialized (
  select id, ${againHeld}, 'message-lost' as reason from belfry.job
  where state = 'QUEUED' and dispatched_at is not null and finished_at is null and lane = $1
    and dispatched_at < least((select at from mark), belfry.now() - belfry.span($2::float8))
    and due_at < least((select at from mark), belfry.now() - belfry.span($2::float8))
    and (select at from mark) is not null and ${isSent("$7")}
  order by dispatched_at limit $3
  for no key update skip locked
), ${putBack}`);
