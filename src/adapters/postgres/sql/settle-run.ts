import { keptStatement } from "../statement.ts";
import type { SettledRow } from "./settle.ts";

/** `own` false: a successor that these ends released. */
export interface SettledRunRow extends Omit<SettledRow, "state"> {
  readonly state: SettledRow["state"] | "PENDING";
  readonly own: boolean;
  /** Set for a job of a run that ended. */
  readonly run_id: string | null;
  /** Ready, but not handed off here. */
  readonly left_to_relay: boolean;
}

/**
 * As `settle`, for jobs of runs: also frees their slots, and counts the end of a run's job at its successors and in its
 * run's deltas. A successor that may start is QUEUED here, $13 at most (the relay hands off the rest); one that may not is
 * SKIPPED, and its own end is left for `resolve`. Wide joins are not locked: their predecessors append.
 *
 * Locks: its own rows and their narrow successors in one list in id order (waiting), since a successor may have the lower
 * id; then the slots these very tries hold, which nobody else waits for. Counters and conditions are read from the locked
 * rows, and edges once: a planner that expects one row would otherwise compare each row with every other.
 */
export const settleRun = keptStatement<SettledRunRow>(
  "settle-run",
  `
with given as materialized (
  select v.*, case when v.outcome = 'RETRY_WAIT' and v.delay <= $12::float8 then 'QUEUED' else v.outcome end as state
  from unnest($1::bigint[], $2::int[], $3::belfry.job_state[], $4::text[], $5::float8[], $6::int[], $7::int[], $8::text[],
    $9::text[], $10::jsonb[]) as v (id, attempt, outcome, reason, delay, failures, interruptions, code, message, result)
), out_edges as materialized (
  select from_id, to_id, run_id, wide from belfry.edge where from_id = any($1::bigint[])
), locked as materialized (
  select id, state, attempt, run_id, blocked, join_rule, preds_open, preds_ok, preds_bad, due_at from belfry.job
  where id = any(array(select unnest($1::bigint[]) union select to_id from out_edges where not wide))
  order by id
  for no key update
), moved as (
  update belfry.job j set state = g.state,
    generation = j.generation + (g.state = 'QUEUED')::int,
    failures = j.failures + g.failures,
    interruptions = j.interruptions + g.interruptions,
    due_at = case when g.state in ('QUEUED', 'RETRY_WAIT') then belfry.now() + belfry.span(g.delay) else j.due_at end,
    handed_at = case when g.state = 'QUEUED' then belfry.now() else j.handed_at end,
    finished_at = case when g.state >= 'SUCCESS' then belfry.now() end,
    lease_until = null, worker = null,
    suspect = j.suspect and g.outcome = 'QUEUED',
    alone = false,
    spread = g.state >= 'SUCCESS',
    result = g.result, error_code = g.code, error_message = g.message
  from locked l join given g on g.id = l.id
  where j.id = l.id and l.state = 'RUNNING' and l.attempt = g.attempt and l.run_id is not null
  returning j.id, j.state, j.kind, j.attempt, j.generation, j.lane, j.trace, j.started_at, j.due_at, j.error_code,
    j.error_message, j.run_id, j.slot_keys, g.outcome, g.reason
), ended as materialized (
  select m.id, m.run_id, m.state, (m.state = 'SUCCESS' or r.on_failure = 'continue')::int as ok, r.state as run_state
  from moved m join belfry.run r on r.id = m.run_id
  where m.state >= 'SUCCESS'
), counted as materialized (
  select e.to_id, e.run_id, e.wide, count(*)::int as n, sum(d.ok)::int as ok, sum(1 - d.ok)::int as bad
  from ended d join out_edges e on e.from_id = d.id
  where d.run_state = 'RUNNING'
  group by e.to_id, e.run_id, e.wide
), appended as (
  insert into belfry.pred_delta (run_id, to_id, n, ok, bad)
  select run_id, to_id, n, ok, bad from counted where wide order by to_id
), totaled as (
  insert into belfry.run_delta (run_id, done, ok, failed)
  select run_id, count(*), count(*) filter (where state = 'SUCCESS'), count(*) filter (where state = 'FAILED')
  from ended group by run_id order by run_id
), judged as materialized (
  select l.id, c.n, c.ok, c.bad, v.verdict,
    v.verdict = 'ready' and l.due_at <= belfry.now() + belfry.span($12::float8) as is_due,
    row_number() over (partition by v.verdict order by l.id) as turn
  from counted c join locked l on l.id = c.to_id
  cross join lateral (
    select belfry.join_verdict(l.join_rule, l.preds_open - c.n, l.preds_ok + c.ok, l.preds_bad + c.bad) as verdict
  ) v
  where not c.wide and l.state = 'PENDING' and l.blocked
), released as (
  update belfry.job t set
    preds_open = t.preds_open - j.n, preds_ok = t.preds_ok + j.ok, preds_bad = t.preds_bad + j.bad,
    blocked = j.verdict = 'wait',
    state = case when j.verdict in ('upstream', 'not taken') then 'SKIPPED' when j.is_due and j.turn <= $13::int then 'QUEUED'
      else 'PENDING' end::belfry.job_state,
    generation = t.generation + (j.is_due and j.turn <= $13::int)::int,
    handed_at = case when j.is_due and j.turn <= $13::int then belfry.now() else t.handed_at end,
    finished_at = case when j.verdict in ('upstream', 'not taken') then belfry.now() end,
    not_taken = j.verdict = 'not taken'
  from judged j where t.id = j.id
  returning t.id, t.state, t.kind, t.attempt, t.generation, t.lane, t.trace, t.due_at, j.verdict
), freed as (
  update belfry.slot s set job_id = null, attempt = null, free_from = null
  from moved m where m.slot_keys is not null and s.job_id = m.id and s.attempt = m.attempt
  returning s.key
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, worker, reason, started_at,
    error_code, error_message)
  select id, belfry.now(), 'RUNNING'::belfry.job_state, outcome, attempt, generation - (state <> outcome)::int, $11, reason,
    started_at, error_code, error_message
  from moved
  union all
  select id, belfry.now(), 'RETRY_WAIT', state, attempt, generation, null, null, null, null, null
  from moved where state <> outcome
  union all
  select id, belfry.now(), 'PENDING', state, attempt, generation, null, case state when 'SKIPPED' then verdict end,
    null, null, null
  from released where state <> 'PENDING'
), out as materialized (
  select id, generation, lane from moved where state = 'QUEUED'
  union all
  select id, generation, lane from released where state = 'QUEUED'
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select belfry.now(), lane, array_agg(id order by id), array_agg(generation order by id)
  from out group by lane
  returning id, lane
)
select m.id, m.state, m.kind, m.attempt, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms,
  h.id as handoff, m.error_code, m.error_message, (select array_agg(distinct key) from freed) as freed,
  true as own, case when m.state >= 'SUCCESS' then m.run_id end as run_id, false as left_to_relay
from moved m left join handed h on h.lane = m.lane and m.state = 'QUEUED'
union all
select t.id, t.state, t.kind, t.attempt, t.generation, t.lane, t.trace, belfry.ms_until(t.due_at), h.id, null, null, null,
  false, null, t.state = 'PENDING'
from released t left join handed h on h.lane = t.lane and t.state = 'QUEUED'
where t.state = 'QUEUED' or (t.state = 'PENDING' and t.verdict = 'ready')
order by 1`,
);
