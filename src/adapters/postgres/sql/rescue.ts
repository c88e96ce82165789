import { statement } from "../statement.ts";

export interface MovedRow {
  readonly id: string;
  readonly state: "PENDING" | "QUEUED" | "FAILED" | "CANCELED";
  readonly kind: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly generation: number;
  readonly lane: string;
  readonly trace: string;
  readonly delay_ms: number;
  readonly handoff: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly freed: string[] | null;
}

/**
 * RUNNING past its lease. It ran alone: it is to blame, a failure, due now. Else a neighbour may be: an interruption, and
 * it runs alone next time. $1 limit $2 interruption cap $3 lane, or null for all (folded away by the planner).
 * Locks: jobs by (lease, id), SKIP LOCKED; then the slots of these tries, which nobody else waits for.
 */
export const rescueLost = statement<MovedRow>(
  "rescue",
  `
with lost as materialized (
  select id, worker,
    case when alone then failures + 1 >= max_attempts else interruptions + 1 >= $2::int end as gives_up
  from belfry.job
  where lease_until < belfry.now() and ($3::text is null or lane = $3)
  order by lease_until, id limit $1
  for no key update skip locked
), moved as (
  update belfry.job j set state = case when l.gives_up then 'FAILED' else 'QUEUED' end::belfry.job_state,
    failures = j.failures + j.alone::int,
    interruptions = j.interruptions + (not j.alone)::int,
    generation = j.generation + (not l.gives_up)::int,
    suspect = j.suspect or not j.alone,
    due_at = case when l.gives_up then j.due_at else belfry.now() end,
    handed_at = case when l.gives_up then j.handed_at else belfry.now() end,
    finished_at = case when l.gives_up then belfry.now() end,
    lease_until = null, worker = null,
    error_code = 'WORKER_LOST', error_message = 'its worker stopped answering'
  from lost l where j.id = l.id and j.state = 'RUNNING'
  returning j.*, l.worker as was_worker, l.gives_up,
    case when l.gives_up then 'FAILED' when j.alone then 'RETRY_WAIT' else 'QUEUED' end::belfry.job_state as outcome
), freed as (
  update belfry.slot s set job_id = null, attempt = null, free_from = null
  from moved m where s.job_id = any(array(select id from lost)) and s.job_id = m.id and s.attempt = m.attempt
  returning s.key
), left_behind as (
  update belfry.slot set job_id = null, attempt = null, free_from = null
  where free_from <= belfry.now() and not (job_id = any(array(select id from lost)))
  returning key
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, worker, reason, started_at,
    error_code, error_message)
  select id, belfry.now(), 'RUNNING'::belfry.job_state, outcome, attempt, generation - (state <> outcome)::int, was_worker,
    case when gives_up and not alone then 'interrupted' else 'lost' end, started_at, error_code, error_message
  from moved
  union all
  select id, belfry.now(), 'RETRY_WAIT', state, attempt, generation, null, null, null, null, null
  from moved where state <> outcome
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select belfry.now(), lane, array_agg(id order by id), array_agg(generation order by id)
  from moved where state = 'QUEUED' group by lane
  returning id, lane
)
select m.id, m.state, m.kind, m.payload, m.attempt, m.generation, m.lane, m.trace, 0::float8 as delay_ms,
  h.id as handoff, m.error_code, m.error_message,
  (select array_agg(distinct key) from (select key from freed union all select key from left_behind) k) as freed
from moved m left join handed h on h.lane = m.lane and m.state = 'QUEUED'
order by m.id`,
);

/**
 * Messages that died unclaimed: QUEUED under that generation waits for its backoff, or is FAILED after too many deaths.
 * $1 ids $2 generations $3 deaths allowed $4 backoff. Locks: jobs in id order, waiting; then a waiting seat, then occurrences.
 */
export const returnUndelivered = statement<MovedRow>(
  "undelivered",
  `
with dead as (
  select * from unnest($1::bigint[], $2::int[]) as v (id, generation)
), mine as materialized (
  select j.id, j.dead_letters + 1 >= $3::int as gives_up from belfry.job j join dead d on d.id = j.id
  where j.id = any($1::bigint[]) and j.state = 'QUEUED' and j.generation = d.generation
  order by j.id
  for no key update of j
), moved as (
  update belfry.job j set state = case when m.gives_up then 'FAILED' else 'PENDING' end::belfry.job_state,
    dead_letters = j.dead_letters + 1,
    generation = j.generation + (not m.gives_up)::int,
    due_at = case when m.gives_up then j.due_at else belfry.now() + belfry.span($4::float8) end,
    finished_at = case when m.gives_up then belfry.now() end,
    error_code = case when m.gives_up then 'UNDELIVERABLE' else j.error_code end,
    error_message = case when m.gives_up then j.dead_letters + 1 || ' messages died unclaimed' else j.error_message end
  from mine m where j.id = m.id
  returning j.*, m.gives_up
), unseated as (
  update belfry.slot s set job_id = null
  from moved m where s.job_id = any($1::bigint[]) and s.job_id = m.id and s.n = 0 and m.gives_up
), decided as (
  update belfry.occurrence o set outcome = 'SKIPPED', reason = 'undeliverable', decided_at = belfry.now(),
    lateness_ms = belfry.ms_since(o.nominal_at)
  from moved m where o.job_id = any($1::bigint[]) and o.job_id = m.id and m.gives_up and o.outcome = 'PLANNED'
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, reason)
  select id, belfry.now(), 'QUEUED', state, attempt, generation,
    case when gives_up then 'undeliverable' else 'undelivered' end
  from moved
)
select id, state, kind, payload, attempt, generation, lane, trace, 0::float8 as delay_ms, null::bigint as handoff,
  error_code, error_message, null::text[] as freed
from moved
order by id`,
);

/** Locks nothing but its new rows. */
export const keepBodies = statement<never>(
  "quarantine",
  "insert into belfry.quarantine (at, lane, body) select belfry.now(), $1, body from unnest($2::text[]) as b (body)",
);
