import { keptStatement, statement } from "../statement.ts";

export interface SettledRow {
  readonly id: string;
  readonly state: "SUCCESS" | "FAILED" | "RETRY_WAIT" | "QUEUED";
  readonly kind: string;
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
 * Successes of rows without slots, schedule, run or expiry: most of what workers write, so a text of its own that carries
 * nothing else and answers one row. $1 ids $2 attempts $3 results $4 worker. As in `settle`: jobs are locked in id order,
 * and judged once they are locked.
 */
export const settleDone = keptStatement<{ ids: string | null }>(
  "settle-done",
  `
with given as materialized (
  select j.id, v.attempt, v.result, belfry.now() as now, j.state as was, j.attempt as held,
    num_nulls(j.slot_keys, j.schedule_id, j.run_id, j.expires_at) = 4 as is_mine
  from unnest($1::bigint[], $2::int[], $3::jsonb[]) as v (id, attempt, result) join belfry.job j on j.id = v.id
  where j.id = any($1::bigint[])
  order by j.id
  for no key update of j
), moved as (
  update belfry.job j set state = 'SUCCESS', finished_at = g.now, lease_until = null, worker = null, suspect = false,
    alone = false, result = g.result, error_code = null, error_message = null
  from given g
  where j.id = g.id and g.was = 'RUNNING' and g.held = g.attempt and g.is_mine
  returning j.id, j.attempt, j.generation, j.started_at, g.now
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, worker, started_at)
  select id, now, 'RUNNING', 'SUCCESS', attempt, generation, $4, started_at from moved
)
select string_agg(id::text, ',') as ids from moved`,
);

/**
 * Writes outcomes of rows without slots, schedule, run or expiry, any mix of them. $1 ids $2 attempts $3 outcomes $4 reasons
 * $5 delays $6 failures $7 interruptions $8 error codes $9 error messages $10 results $11 worker $12 dispatch window.
 * A RETRY_WAIT within the dispatch window becomes QUEUED in the same row update, and both events are written.
 * Locks: jobs in one list in id order, waiting; then only new rows. Conditioned on RUNNING and the attempt, as they are
 * once locked: judged in the same scan, they would make the planner expect one row, and compare each row with every other.
 */
export const settlePlain = keptStatement<SettledRow>(
  "settle",
  `
with given as materialized (
  select v.*, case when v.outcome = 'RETRY_WAIT' and v.delay <= $12::float8 then 'QUEUED' else v.outcome end as state,
    belfry.now() as now, j.state as was, j.attempt as held,
    num_nulls(j.slot_keys, j.schedule_id, j.run_id, j.expires_at) = 4 as is_mine
  from unnest($1::bigint[], $2::int[], $3::belfry.job_state[], $4::text[], $5::float8[], $6::int[], $7::int[], $8::text[],
    $9::text[], $10::jsonb[]) as v (id, attempt, outcome, reason, delay, failures, interruptions, code, message, result)
  join belfry.job j on j.id = v.id
  where j.id = any($1::bigint[])
  order by j.id
  for no key update of j
), moved as (
  update belfry.job j set state = g.state,
    generation = j.generation + (g.state = 'QUEUED')::int,
    failures = j.failures + g.failures,
    interruptions = j.interruptions + g.interruptions,
    due_at = case when g.state in ('QUEUED', 'RETRY_WAIT') then g.now + g.delay * interval '1 millisecond' else j.due_at end,
    handed_at = case when g.state = 'QUEUED' then g.now else j.handed_at end,
    finished_at = case when g.state >= 'SUCCESS' then g.now end,
    lease_until = null, worker = null,
    suspect = j.suspect and g.outcome = 'QUEUED',
    alone = false,
    result = g.result, error_code = g.code, error_message = g.message
  from given g
  where j.id = g.id and g.was = 'RUNNING' and g.held = g.attempt and g.is_mine
  returning j.id, j.state, j.kind, j.attempt, j.generation, j.lane, j.trace, j.started_at, j.due_at, j.error_code,
    j.error_message, g.outcome, g.reason, g.now
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, worker, reason, started_at,
    error_code, error_message)
  select id, now, 'RUNNING'::belfry.job_state, outcome, attempt, generation - (state <> outcome)::int, $11, reason,
    started_at, error_code, error_message
  from moved
  union all
  select id, now, 'RETRY_WAIT', state, attempt, generation, null, null, null, null, null from moved where state <> outcome
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select now, lane, array_agg(id order by id), array_agg(generation order by id)
  from moved where state = 'QUEUED' group by now, lane
  returning id, lane
)
select m.id, m.state, m.kind, m.attempt, m.generation, m.lane, m.trace,
  greatest(0, floor(extract(epoch from m.due_at - m.now) * 1000))::float8 as delay_ms,
  h.id as handoff, m.error_code, m.error_message, null::text[] as freed
from moved m left join handed h on h.lane = m.lane and m.state = 'QUEUED'
order by m.id`,
);

/**
 * As `settle`, for the other rows outside of runs: also frees their slots. Locks: jobs in id order (waiting), then the slots these
 * very tries hold, which nobody else waits for.
 */
export const settleFull = keptStatement<SettledRow>(
  "settle-full",
  `
with given as materialized (
  select v.*, case when v.outcome = 'RETRY_WAIT' and v.delay <= $12::float8 then 'QUEUED' else v.outcome end as state,
    belfry.now() as now, j.state as was, j.attempt as held,
    num_nulls(j.slot_keys, j.schedule_id, j.run_id, j.expires_at) < 4 and j.run_id is null as is_mine
  from unnest($1::bigint[], $2::int[], $3::belfry.job_state[], $4::text[], $5::float8[], $6::int[], $7::int[], $8::text[],
    $9::text[], $10::jsonb[]) as v (id, attempt, outcome, reason, delay, failures, interruptions, code, message, result)
  join belfry.job j on j.id = v.id
  where j.id = any($1::bigint[])
  order by j.id
  for no key update of j
), moved as (
  update belfry.job j set state = g.state,
    generation = j.generation + (g.state = 'QUEUED')::int,
    failures = j.failures + g.failures,
    interruptions = j.interruptions + g.interruptions,
    due_at = case when g.state in ('QUEUED', 'RETRY_WAIT') then g.now + g.delay * interval '1 millisecond' else j.due_at end,
    handed_at = case when g.state = 'QUEUED' then g.now else j.handed_at end,
    finished_at = case when g.state >= 'SUCCESS' then g.now end,
    lease_until = null, worker = null,
    suspect = j.suspect and g.outcome = 'QUEUED',
    alone = false,
    result = g.result, error_code = g.code, error_message = g.message
  from given g
  where j.id = g.id and g.was = 'RUNNING' and g.held = g.attempt and g.is_mine
  returning j.id, j.state, j.kind, j.attempt, j.generation, j.lane, j.trace, j.started_at, j.due_at, j.error_code,
    j.error_message, g.outcome, g.reason, g.now
), freed as (
  update belfry.slot s set job_id = null, attempt = null, free_from = null
  from moved m where s.job_id = any($1::bigint[]) and s.job_id = m.id and s.attempt = m.attempt
  returning s.key
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, worker, reason, started_at,
    error_code, error_message)
  select id, now, 'RUNNING'::belfry.job_state, outcome, attempt, generation - (state <> outcome)::int, $11, reason,
    started_at, error_code, error_message
  from moved
  union all
  select id, now, 'RETRY_WAIT', state, attempt, generation, null, null, null, null, null from moved where state <> outcome
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select now, lane, array_agg(id order by id), array_agg(generation order by id)
  from moved where state = 'QUEUED' group by now, lane
  returning id, lane
)
select m.id, m.state, m.kind, m.attempt, m.generation, m.lane, m.trace,
  greatest(0, floor(extract(epoch from m.due_at - m.now) * 1000))::float8 as delay_ms,
  h.id as handoff, m.error_code, m.error_message, (select array_agg(distinct key) from freed) as freed
from moved m left join handed h on h.lane = m.lane and m.state = 'QUEUED'
order by m.id`,
);

/** What a hook in the same transaction is told about the rows just moved; a task's payload is its run's input. Locks nothing: they are ours already. */
export const readSettled = statement<{
  id: string;
  kind: string;
  payload: unknown;
  state: SettledRow["state"];
  attempt: number;
  error_code: string | null;
  error_message: string | null;
}>(
  "settle-read",
  `
select id, kind, case when task is null then payload else (select input from belfry.run r where r.id = run_id) end as payload,
  state, attempt, error_code, error_message
from belfry.job where id = any($1::bigint[]) order by id`,
);
