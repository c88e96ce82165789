import { keptStatement, statement } from "../statement.ts";
import type { State } from "../../machine/state.ts";
import type { DispatchedRow } from "./dispatch.ts";
import { drawEvents, events, history, outbox } from "./record.ts";

/** What a hook is given of a row that moved. */
export interface HookRow {
  readonly id: string;
  readonly state: State;
  readonly kind: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly error_code: string | null;
  readonly error_message: string | null;
}

export interface MovedRow extends HookRow, Omit<DispatchedRow, "resent"> {
  readonly freed: string[] | null;
  /** Set for a job of a run. */
  readonly run_id: string | null;
}

/** Expired leases, oldest first. $1 limit $2 lane, or null for all. Locks nothing. */
export const findLapsed = keptStatement<{ id: string; until: number; ms: number }>("lease-lapsed")(`
select id, (extract(epoch from until) * 1000)::float8 as until, ms from belfry.lease
where until < belfry.now() and ($2::text is null or lane = $2)
order by until, id limit $1`);

/**
 * RUNNING past its lease. If it ran solo: a failure, due now. Else another job of the batch may be the cause: an interruption,
 * and it runs solo next time, and its error blames no one. $1 limit $2 interruption cap $3 lane $4 leases, or null for all.
 * Locks: expired leases, SKIP LOCKED; then their jobs in id order, SKIP LOCKED; then the slots of these attempts, which no
 * other statement waits for. A lease with jobs left stays, without those that were taken: a heartbeat that waits for it
 * reads that. One that no job names any more is deleted. Five kinds of move for
 * each worker: an event names one.
 */
export const rescueLost = keptStatement<MovedRow>("rescue")(`
with expired as materialized (
  select id, solo, job_ids, cause from belfry.lease
  where until < belfry.now() and ($3::text is null or lane = $3) and ($4::bigint[] is null or id = any($4::bigint[]))
  order by until, id limit $1
  for update skip locked
), lost as materialized (
  select j.id, j.worker, e.solo, e.cause, case when e.solo then j.failures + 1 >= j.max_attempts else j.interruptions + 1 >= $2::int end as gives_up
  from expired e join belfry.job j on j.lease_id = e.id
  where j.id = any(array(select unnest(job_ids) from expired)) and j.state = 'RUNNING'
  order by j.id limit $1
  for no key update of j skip locked
), mine as materialized (
  select *, 5 * (dense_rank() over (order by worker) - 1)
    + case when gives_up and solo then 1 when gives_up then 2 when solo then 4 else 5 end as kind from lost
), ${drawEvents}, moved as (
  update belfry.job j set state = case when m.gives_up then 'FAILED' else 'QUEUED' end::belfry.job_state,
    event_id = d.ids[m.kind],
    failures = j.failures + m.solo::int,
    interruptions = j.interruptions + (not m.solo)::int,
    generation = j.generation + (not m.gives_up)::int,
    solo_required = j.solo_required or not m.solo,
    due_at = case when m.gives_up then j.due_at else belfry.now() end,
    dispatched_at = case when m.gives_up then j.dispatched_at else belfry.now() end,
    finished_at = case when m.gives_up then belfry.now() end,
    lease_id = null,
    error_code = 'WORKER_LOST', error_message = case when m.cause is null then 'its lease ended without an outcome'
      when m.solo then m.cause else 'it or another job of its batch: ' || m.cause end
  from mine m cross join drawn d where j.id = m.id
  returning j.*, m.gives_up, m.solo, case when m.kind % 5 = 4 then d.ids[m.kind - 1] else j.event_id end as end_event,
    case when m.gives_up then 'FAILED' when m.solo then 'RETRY_WAIT' else 'QUEUED' end::belfry.job_state as outcome
), freed as (
  update belfry.slot s set job_id = case when not m.gives_up then m.id end, free_from = null,
    attempt = case when not m.gives_up then m.attempt + 1 end, kept_for = case when not m.gives_up then m.generation end
  from moved m where s.job_id = m.id and s.attempt = m.attempt and s.kept_for is null
  returning s.key, s.job_id
), left_behind as (
  update belfry.slot set job_id = null, attempt = null, kept_for = null, free_from = null
  where free_from <= belfry.now() and job_id is not null and attempt is not null and kept_for is null and not (job_id = any(array(select id from lost)))
  returning key
), named as materialized (
  select j.lease_id from belfry.job j
  where j.id = any(array(select unnest(job_ids) from expired)) and j.lease_id is not null
    and not j.id = any(array(select id from moved))
), ended as (
  delete from belfry.lease where id = any(array(select id from expired)) and not id = any(array(select lease_id from named))
), shortened as (
  update belfry.lease set job_ids = array(select u.id from unnest(job_ids) as u (id) where not u.id = any(array(select id from moved)))
  where id = any(array(select id from expired)) and id = any(array(select lease_id from named)) and job_ids && array(select id from moved)
), moves as (
  select end_event as event_id, id, 'RUNNING'::belfry.job_state as from_state, outcome as to_state, attempt,
    generation - (state <> outcome)::int as generation, lane, worker,
    case when gives_up and not solo then 'interrupted' else 'lost' end as reason, null::text as caller, error_code,
    error_message, started_at
  from moved
  union all
  select event_id, id, 'RETRY_WAIT', state, attempt, generation, lane, null, null, null, null, null, null
  from moved where state <> outcome
), ${events}, ${history}, ${outbox}
select m.id, m.state, m.kind, m.payload, m.attempt, m.generation, m.lane, m.trace, 0::float8 as delay_ms,
  o.id as batch, m.error_code, m.error_message, m.run_id,
  (select array_agg(distinct key) from (select key from freed where job_id is null union all select key from left_behind) k) as freed
from moved m left join posted o on o.lane = m.lane and m.state = 'QUEUED'
order by m.id`);

/**
 * Dead letters: a job QUEUED under that generation waits for its backoff, or is FAILED after too many of them.
 * $1 ids, ascending, $2 generations $3 deaths allowed $4 backoff. Locks: jobs in id order, waiting; then a waiting seat, then occurrences.
 */
export const returnUndelivered = statement<MovedRow>("undelivered")(`
with mine as materialized (
  select j.id, j.dead_letters + 1 >= $3::int as gives_up, 1 + (j.dead_letters + 1 >= $3::int)::int as kind
  from belfry.job j
  where j.id = any($1::bigint[]) and j.state = 'QUEUED' and j.generation = ($2::int[])[width_bucket(j.id, $1::bigint[])]
  order by j.id
  for no key update of j
), ${drawEvents}, moved as (
  update belfry.job j set state = case when m.gives_up then 'FAILED' else 'PENDING' end::belfry.job_state,
    event_id = d.ids[m.kind],
    dead_letters = j.dead_letters + 1,
    generation = j.generation + (not m.gives_up)::int,
    due_at = case when m.gives_up then j.due_at else belfry.now() + belfry.span($4::float8) end,
    dispatched_at = case when m.gives_up then j.dispatched_at end,
    finished_at = case when m.gives_up then belfry.now() end,
    error_code = case when m.gives_up then 'UNDELIVERABLE' else j.error_code end,
    error_message = case when m.gives_up then j.dead_letters + 1 || ' messages died unclaimed' else j.error_message end
  from mine m cross join drawn d where j.id = m.id
  returning j.*, m.gives_up
), unseated as (
  update belfry.slot s set job_id = null
  where s.job_id = any(array(select id from moved where gives_up)) and s.n = 0
), decided as (
  update belfry.occurrence o set outcome = 'SKIPPED', reason = 'undeliverable', decided_at = belfry.now(),
    lateness_ms = belfry.ms_since(coalesce(o.effective_at, o.nominal_at))
  where o.job_id = any(array(select id from moved where gives_up)) and o.outcome = 'PLANNED'
), moves as (
  select event_id, id, 'QUEUED'::belfry.job_state as from_state, state as to_state, attempt, generation, lane,
    case when gives_up then 'undeliverable' else 'undelivered' end as reason, null::text as worker, null::text as caller,
    case when gives_up then error_code end as error_code, case when gives_up then error_message end as error_message,
    null::timestamptz as started_at
  from moved
), ${events}, ${history}
select id, state, kind, payload, attempt, generation, lane, trace, 0::float8 as delay_ms, null::bigint as batch,
  error_code, error_message, run_id, null::text[] as freed
from moved
order by id`);

/** Locks nothing but its new rows. */
export const keepBodies = statement<never>("quarantine")(
  "insert into belfry.quarantine (at, lane, body) select belfry.now(), $1, body from unnest($2::text[]) as b (body)",
);
