import { keptStatement, statement } from "../statement.ts";
import { drawn, events, historyWithDetail, outbox } from "./record.ts";
import { countEnds, releasedMoves, releaseWith } from "./release.ts";

export interface SettledRow {
  readonly id: string;
  readonly state: "SUCCESS" | "FAILED" | "RETRY_WAIT" | "QUEUED" | "PENDING";
  readonly generation: number;
  readonly lane: string;
  readonly trace: string;
  readonly delay_ms: number;
  readonly batch: string | null;
  readonly freed: string[] | null;
  /** False: a successor in the run that these ends released. */
  readonly own: boolean;
  /** Set for a job of a run that ended. */
  readonly run_id: string | null;
}

/** $1 ids $2 attempts $3 outcomes $4 reasons $5 delays $6 failures $7 interruptions $8 codes $9 messages $10 results $11 kinds of outcome $14 details. */
const outcomes = `unnest($1::bigint[], $2::int[], $3::belfry.job_state[], $4::text[], $5::float8[], $6::int[], $7::int[], $8::text[],
    $9::text[], $10::jsonb[], $11::int[], $14::jsonb[])
    as v (id, attempt, outcome, reason, delay, failures, interruptions, code, message, result, kind, detail)`;

/** A RETRY_WAIT within the dispatch window ($13) becomes QUEUED in the same row update, and both events are written. */
const settledState = `case when v.outcome = 'RETRY_WAIT' and v.delay <= $13::float8 then 'QUEUED' else v.outcome end as state`;

/** Two ids for each kind of outcome: the second is for what passes through RETRY_WAIT. */
const drawnTwice = drawn.replace("(select max(kind) from mine)", "(select 2 * max(kind) from mine)");

/** Jobs of `mine` that were locked RUNNING, by this attempt and worker ($12). */
const moved = `moved as (
  update belfry.job j set state = g.state,
    event_id = d.ids[2 * g.kind - (g.state = g.outcome)::int],
    generation = j.generation + (g.state = 'QUEUED')::int,
    failures = j.failures + g.failures,
    interruptions = j.interruptions + g.interruptions,
    due_at = case when g.state in ('QUEUED', 'RETRY_WAIT') then g.now + g.delay * interval '1 millisecond' else j.due_at end,
    dispatched_at = case g.state when 'QUEUED' then g.now when 'RETRY_WAIT' then null else j.dispatched_at end,
    finished_at = case when g.state >= 'SUCCESS' then g.now end,
    lease_id = null,
    solo_required = j.solo_required and g.outcome = 'QUEUED',
    end_counted = g.run_id is not null and g.state >= 'SUCCESS',
    result = g.result, error_code = g.code, error_message = g.message
  from mine g cross join drawn d
  where j.id = g.id
  returning j.event_id, j.id, j.state, j.attempt, j.generation, j.lane, j.trace, j.started_at, j.due_at, j.run_id, j.slot_keys,
    g.outcome, g.reason, g.code, g.message, g.detail, g.kind, g.now, g.lease_id
)`;

/** The event ids of what passed through RETRY_WAIT: the row names the later one. */
const settledMoves = `
  select d.ids[2 * kind - 1] as event_id, id, 'RUNNING'::belfry.job_state as from_state, outcome as to_state, attempt,
    generation - (state <> outcome)::int as generation, lane, $12 as worker, reason, null::text as caller, code as error_code,
    message as error_message, started_at, detail
  from moved cross join drawn d
  union all
  select event_id, id, 'RETRY_WAIT', state, attempt, generation, lane, null, null, null, null, null, null, null
  from moved where state <> outcome`;

/**
 * Leases whose last job was just settled end with it. The jobs settled here still look RUNNING to this statement.
 * Locks: leases with SKIP LOCKED, since this statement holds jobs; one that is left is ended by rescue.
 */
const ended = `emptied as materialized (
  select l.id from belfry.lease l
  where l.id = any(array(select lease_id from moved)) and not exists (
    select from belfry.job j where j.id = any(l.job_ids) and j.lease_id = l.id and not j.id = any(array(select id from moved))
  )
  for update of l skip locked
), ended as (
  delete from belfry.lease where id = any(array(select id from emptied))
)`;

/**
 * Writes outcomes of rows without slots, schedule, run or expiry, any mix of them.
 * Locks: jobs in one list in id order, waiting; leases with SKIP LOCKED; then only new rows. The state, attempt and
 * worker are checked after the lock: in the same scan they would make the planner expect one row, and compare each row with
 * every other.
 */
export const settlePlain = keptStatement<SettledRow>(
  "settle",
  `
with given as materialized (
  select v.*, ${settledState}, belfry.now() as now, j.state as was, j.attempt as held, j.worker, j.lease_id, j.run_id,
    num_nulls(j.slot_keys, j.schedule_id, j.run_id, j.expires_at) = 4 as is_plain
  from ${outcomes}
  join belfry.job j on j.id = v.id
  where j.id = any($1::bigint[])
  order by j.id
  for no key update of j
), mine as (
  select * from given where was = 'RUNNING' and held = attempt and worker = $12 and is_plain
), ${drawnTwice}, ${moved}, moves as (${settledMoves}
), ${ended}, ${events}, ${historyWithDetail}, ${outbox}
select m.id, m.state, m.generation, m.lane, m.trace,
  greatest(0, floor(extract(epoch from m.due_at - m.now) * 1000))::float8 as delay_ms,
  o.id as batch, null::text[] as freed, true as own, null::bigint as run_id
from moved m left join posted o on o.lane = m.lane and m.state = 'QUEUED'
order by m.id`,
);

/**
 * As `settle`, for the other rows: frees their slots, and counts the end of a run's job at its successors and in its run's
 * deltas. A successor that may start is QUEUED here, $15 at most (the relay dispatches the rest); one that may not is
 * SKIPPED, and its own end is left for `resolve`. Wide joins are not locked: their predecessors append.
 *
 * Locks: its own rows and their narrow successors in one list in id order (waiting), since a successor may have the lower
 * id; then the slots of these attempts, which no other statement waits for. Counters and conditions are read from the
 * locked rows, and edges once: a planner that expects one row would otherwise compare each row with every other.
 */
export const settleFull = keptStatement<SettledRow>(
  "settle-full",
  `
with given as materialized (
  select v.*, ${settledState} from ${outcomes}
), out_edges as materialized (
  select from_id, to_id, run_id, wide from belfry.edge where from_id = any($1::bigint[])
), locked as materialized (
  select id, state, attempt, worker, lease_id, run_id, blocked, join_rule, preds_open, preds_ok, preds_bad, due_at,
    num_nulls(slot_keys, schedule_id, run_id, expires_at) < 4 as is_full
  from belfry.job
  where id = any(array(select unnest($1::bigint[]) union select to_id from out_edges where not wide))
  order by id
  for no key update
), mine as (
  select g.*, belfry.now() as now, l.lease_id, l.run_id from locked l join given g on g.id = l.id
  where l.state = 'RUNNING' and l.attempt = g.attempt and l.worker = $12 and l.is_full
), ${drawnTwice}, ${moved}, ends as materialized (
  select m.id, m.run_id, m.state, (m.state = 'SUCCESS' or r.on_failure = 'continue')::int as ok,
    (m.state <> 'SUCCESS' and r.on_failure <> 'continue')::int as bad, r.state as run_state
  from moved m join belfry.run r on r.id = m.run_id
  where m.state >= 'SUCCESS'
), ${countEnds}, ${releaseWith({ windowMs: "$13", rows: "$15::int" })}, freed as (
  update belfry.slot s set job_id = null, attempt = null, free_from = null
  from moved m where m.slot_keys is not null and s.job_id = m.id and s.attempt = m.attempt
  returning s.key
), moves as (${settledMoves}
  union all select *, null from (${releasedMoves}) released_moves
), ${ended}, ${events}, ${historyWithDetail}, ${outbox}
select m.id, m.state, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, o.id as batch,
  (select array_agg(distinct key) from freed) as freed, true as own, case when m.state >= 'SUCCESS' then m.run_id end as run_id
from moved m left join posted o on o.lane = m.lane and m.state = 'QUEUED'
union all
select t.id, t.state, t.generation, t.lane, t.trace, belfry.ms_until(t.due_at), o.id, null, false, null
from released t left join posted o on o.lane = t.lane and t.state = 'QUEUED'
where t.state = 'QUEUED' or (t.state = 'PENDING' and t.verdict = 'ready')
order by 1`,
);

/** The rows just moved, for a hook in the same transaction; a task's payload is its run's input. Locks nothing: they are locked. */
export const readSettled = statement<{
  id: string;
  kind: string;
  payload: unknown;
  state: "SUCCESS" | "FAILED" | "RETRY_WAIT" | "QUEUED";
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
