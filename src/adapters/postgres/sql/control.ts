import { statement } from "../statement.ts";
import type { MovedRow } from "./rescue.ts";

/**
 * Whatever is not final -> CANCELED. A RUNNING one keeps its slots until its handler is gone, at the latest when its lease
 * would have ended: two handlers must not run together. Its occurrence, if still PLANNED, becomes SKIPPED. $1 ids $2 reason.
 * Locks: jobs in id order, waiting; then their slots; then their occurrences.
 */
export const cancelJobs = statement<MovedRow>(
  "cancel",
  `
with mine as materialized (
  select id, state, worker, lease_until from belfry.job
  where id = any($1::bigint[]) and state in ('PENDING', 'QUEUED', 'RUNNING', 'RETRY_WAIT')
  order by id
  for no key update
), moved as (
  update belfry.job j set state = 'CANCELED', finished_at = belfry.now(), lease_until = null, worker = null,
    hold = 'none', held_on = null
  from mine m where j.id = m.id
  returning j.*, m.state as was, m.worker as was_worker, m.lease_until as was_lease_until
), left_behind as (
  update belfry.slot s set free_from = m.was_lease_until
  from moved m where s.job_id = any($1::bigint[]) and s.job_id = m.id and s.attempt = m.attempt and m.was = 'RUNNING'
), unseated as (
  update belfry.slot s set job_id = null
  from moved m where s.job_id = any($1::bigint[]) and s.job_id = m.id and s.n = 0
), decided as (
  update belfry.occurrence o set outcome = 'SKIPPED', reason = 'canceled', decided_at = belfry.now(),
    lateness_ms = belfry.ms_since(o.nominal_at)
  from moved m where o.job_id = any($1::bigint[]) and o.job_id = m.id and o.outcome = 'PLANNED'
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, worker, reason, started_at)
  select id, belfry.now(), was, 'CANCELED', attempt, generation, was_worker, $2, case when was = 'RUNNING' then started_at end
  from moved
)
select id, state, kind, payload, attempt, generation, lane, trace, 0::float8 as delay_ms, null::bigint as handoff,
  error_code, error_message, null::text[] as freed
from moved
order by id`,
);

/**
 * FAILED, CANCELED or SKIPPED -> PENDING, due now: an operator's decision, so counters and expiry start anew. The attempt
 * stays: it is the fence. Jobs of runs are put back by `resume`. Locks: jobs in id order, waiting.
 */
export const retryJobs = statement<{ id: string }>(
  "retry",
  `
with mine as materialized (
  select id, state from belfry.job
  where id = any($1::bigint[]) and state in ('FAILED', 'CANCELED', 'SKIPPED') and run_id is null
  order by id
  for no key update
), moved as (
  update belfry.job j set state = 'PENDING', generation = j.generation + 1, failures = 0, interruptions = 0,
    dead_letters = 0, suspect = false, alone = false, due_at = belfry.now(), expires_at = null, finished_at = null,
    error_code = null, error_message = null
  from mine m where j.id = m.id
  returning j.id, j.attempt, j.generation, m.state as was
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, reason)
  select id, belfry.now(), was, 'PENDING', attempt, generation, 'retry' from moved
)
select id from moved order by id`,
);

/** Slots that canceled jobs left behind for these tries. Locks: those slots in (key, n) order. */
export const freeLeftSlots = statement<{ key: string }>(
  "free-slots",
  `
with gone as (
  select * from unnest($1::bigint[], $2::int[]) as v (job_id, attempt)
), mine as materialized (
  select s.key, s.n from belfry.slot s join gone g on g.job_id = s.job_id and g.attempt = s.attempt
  where s.job_id = any($1::bigint[]) and s.free_from is not null
  order by s.key, s.n
  for no key update of s
), freed as (
  update belfry.slot s set job_id = null, attempt = null, free_from = null
  from mine m where s.key = m.key and s.n = m.n
  returning s.key
)
select distinct key from freed`,
);

/** Creates or changes groups. Locks: their rows in key order. $1 keys $2 sizes $3 on refusal $4 reasons. */
export const writeGroups = statement<never>(
  "slot-groups",
  `
insert into belfry.slot_group as g (key, size, on_refusal, reason)
select * from unnest($1::text[], $2::int[], $3::belfry.slot_refusal[], $4::text[]) as v (key, size, on_refusal, reason)
order by key
on conflict (key) do update set size = excluded.size, on_refusal = excluded.on_refusal, reason = excluded.reason
where (g.size, g.on_refusal, g.reason) is distinct from (excluded.size, excluded.on_refusal, excluded.reason)`,
);

/** Slot 0 is the waiting seat of a queue-one group. Locks only new rows. */
export const addSlots = statement<never>(
  "slots-add",
  `
insert into belfry.slot (key, n)
select g.key, n from belfry.slot_group g
cross join lateral generate_series(case g.on_refusal when 'queue-one' then 0 else 1 end, g.size) as n
where g.key = any($1::text[])
order by g.key, n
on conflict (key, n) do nothing`,
);

/** Retires free slots above the size; a taken one is never used again once it is freed. Locks: those rows, SKIP LOCKED. */
export const retireSlots = statement<never>(
  "slots-retire",
  `
with spare as materialized (
  select s.key, s.n from belfry.slot s join belfry.slot_group g on g.key = s.key
  where g.key = any($1::text[]) and s.n > g.size and s.job_id is null
  order by s.key, s.n
  for update of s skip locked
)
delete from belfry.slot s using spare where s.key = spare.key and s.n = spare.n`,
);
