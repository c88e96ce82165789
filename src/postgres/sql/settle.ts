import { keptForAnySize, keptStatement, statement } from "../statement.ts";
import { drawEvents, events, history, historyWithDetail, outbox } from "./record.ts";
import type { HookRow } from "./rescue.ts";
import { countEnds, releaseColumns, releasedMoves, releaseWith } from "./release.ts";

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

/** One row for all that were written; of tasks also their runs, and the successors that they released. */
export interface WrittenRows {
  readonly ids: string | null;
  readonly runs?: readonly string[];
  readonly released?: readonly SettledRow[] | null;
}

/**
 * $1 ids, ascending, $2 attempts $3 states $4 whether it passes through RETRY_WAIT before that $5 numbers of its newest event
 * $6 reasons $7 delays $8 failures $9 interruptions $10 codes $11 messages $12 results $13 worker $14 details. A column that is null in
 * every row may be null itself. A job's values are found by its place, in a search through $1: arrays that are unnested and
 * joined cost more than the update, and a planner that expects one row would compare each row with every other.
 */
const place = "width_bucket(j.id, $1::bigint[])";
const chosen = `*, ($3::belfry.job_state[])[place] as state, ($4::boolean[])[place] as passes, ($5::int[])[place] as kind,
  belfry.now() as now`;

/** Jobs of `mine`: locked RUNNING, by this attempt and worker. */
const moved = `moved as (
  update belfry.job j set state = g.state,
    event_id = d.ids[g.kind],
    generation = j.generation + (g.state = 'QUEUED')::int,
    failures = j.failures + ($8::int[])[g.place],
    interruptions = j.interruptions + ($9::int[])[g.place],
    due_at = case when g.state in ('QUEUED', 'RETRY_WAIT') then g.now + belfry.span(($7::float8[])[g.place]) else j.due_at end,
    dispatched_at = case g.state when 'QUEUED' then g.now when 'RETRY_WAIT' then null else j.dispatched_at end,
    hold = case when g.state = 'RETRY_WAIT' and j.turn is not null then 'slot' else 'none' end::belfry.job_hold,
    held_on = case when g.state = 'RETRY_WAIT' then coalesce(j.turn, '') else '' end,
    finished_at = case when g.state >= 'SUCCESS' then g.now end,
    lease_id = null,
    solo_required = j.solo_required and g.state = 'QUEUED' and not g.passes,
    end_counted = g.run_id is not null and g.state >= 'SUCCESS',
    result = ($12::jsonb[])[g.place], error_code = ($10::text[])[g.place], error_message = ($11::text[])[g.place]
  from mine g cross join drawn d
  where j.id = g.id
  returning j.event_id, j.id, j.state, j.attempt, j.generation, j.lane, j.trace, j.started_at, j.due_at, j.run_id, j.slot_keys,
    j.error_code, j.error_message, ($6::text[])[g.place] as reason, ($14::jsonb[])[g.place] as detail, g.passes, g.now, g.lease_id,
    d.ids[g.kind - g.passes::int] as first_event_id
)`;

/** The moves from RUNNING. What passes through RETRY_WAIT makes another one, whose event is the later and the row's. */
const attemptEnds = `
  select first_event_id as event_id, id, 'RUNNING'::belfry.job_state as from_state,
    case when passes then 'RETRY_WAIT' else state end as to_state, attempt, generation - passes::int as generation, lane,
    $13 as worker, reason, null::text as caller, error_code, error_message, started_at, detail
  from moved`;
const passages = `
  select event_id, id, 'RETRY_WAIT', state, attempt, generation, lane, null, null, null, null, null, null, null
  from moved where passes`;

/**
 * Leases whose last job was just settled end with it: all of its jobs were, or no other names it. The jobs settled here still
 * look RUNNING to this statement.
 * Locks: leases with SKIP LOCKED, since this statement holds jobs; one that is left is ended by rescue.
 */
const ended = `emptied as materialized (
  select l.id from belfry.lease l join (select lease_id, count(*) as jobs from moved group by lease_id) m on m.lease_id = l.id
  where cardinality(l.job_ids) = m.jobs or not exists (
    select from belfry.job j where j.id = any(l.job_ids) and j.lease_id = l.id and not j.id = any(array(select id from moved))
  )
  for update of l skip locked
), ended as (
  delete from belfry.lease where id = any(array(select id from emptied))
)`;

/** What a success leaves: of the rows that `isOf` means, all in `done`. */
const succeed = (isOf: string): string => `drawn as materialized (
  select belfry.next_event() as event
), moved as (
  update belfry.job j set state = 'SUCCESS', event_id = (select event from drawn), finished_at = belfry.now(), lease_id = null,
    solo_required = false, end_counted = j.run_id is not null, result = ($4::jsonb[])[${place}], error_code = null, error_message = null
  where j.id = any($1::bigint[]) and j.state = 'RUNNING' and j.worker = $3 and j.attempt = ($2::int[])[${place}] and ${isOf}
  returning j.event_id, j.id, j.attempt, j.generation, j.started_at, j.run_id
), done as materialized (
  select min(event_id) as event_id, array_agg(id) as ids, array_agg(attempt) as attempts, array_agg(generation) as generations,
    array_agg(started_at) as started_at
  from moved having count(*) > 0
), emptied as materialized (
  select l.id from done d cross join belfry.lease l
  where l.id = any(array(select lease_id from belfry.job where id = any($1::bigint[]))) and (l.job_ids = d.ids or not exists (
    select from belfry.job j where j.id = any(l.job_ids) and j.lease_id = l.id and not j.id = any(d.ids)
  ))
  for update of l skip locked
), ended as (
  delete from belfry.lease where id = any(array(select id from emptied))
), succeeded as (
  insert into belfry.event (id, at, from_state, to_state, worker, job_ids, attempts, generations, started_at)
  select event_id, belfry.now(), 'RUNNING', 'SUCCESS', $3, ids, attempts, generations, started_at from done
)`;

/**
 * Successes of rows without slots and run. $1 ids, ascending, $2 attempts $3 worker $4 results, null when all are.
 * In one pass, without a lock before: the event may be drawn first, since the newest move of a row that is RUNNING under this attempt
 * is its claim, which had committed before the worker could answer. Leases are read as they stood before the update, which clears
 * them: of a job that gets another one in between, rescue ends that.
 * Locks: jobs in id order, as the index scan brings them (see `keptPlanSettings`), waiting, conditioned on RUNNING, the attempt and the
 * worker; leases with SKIP LOCKED; then only new rows.
 */
export const settleSuccess = keptForAnySize<WrittenRows>("settle-success")(`
with ${succeed("num_nulls(j.slot_keys, j.run_id) = 2")}
select array_to_string(ids, ',') as ids from done`);

/** Of a successor `t`: it starts, or may as soon as the relay dispatches it. */
const isStarted = (windowMs: string): string =>
  `t.state = 'QUEUED' or (t.state = 'PENDING' and t.verdict = 'ready' and t.due_at <= belfry.now() + belfry.span(${windowMs}::float8))`;

/**
 * Successes of rows of runs without slots. $1-$4 as above $5 dispatch window $6 successors that may be QUEUED. They are counted as
 * `settle-full` counts them, and the event is drawn first as above.
 * Locks: where a row has narrow successors its rows and these first, in one list in id order (waiting), since a successor may
 * have the lower id; else jobs in id order, as the index scan brings them; then as above.
 */
export const settleTasks = keptForAnySize<WrittenRows>("settle-tasks")(`
with out_edges as materialized (
  select from_id, to_id, run_id, wide from belfry.edge where from_id = any($1::bigint[])
), locked as materialized (
  select id, state, ${releaseColumns} from belfry.job
  where id = any(array(
    select to_id from out_edges where not wide
    union select id from unnest($1::bigint[]) as id where exists (select from out_edges where not wide)
  ))
  order by id
  for no key update
), ${succeed("j.run_id is not null and j.slot_keys is null and (select count(*) from locked) >= 0")}, ends as materialized (
  select m.id, m.run_id, 'SUCCESS' as state, 1 as ok, 0 as bad, r.state as run_state from moved m join belfry.run r on r.id = m.run_id
), ${countEnds}, ${releaseWith({ windowMs: "$5", rows: "$6::int" })}, moves as (${releasedMoves}
), ${events}, ${history}, ${outbox}
select array_to_string(ids, ',') as ids, array(select distinct run_id from moved) as runs, (
  select json_agg(r order by r.id) from (
    select t.id::text, t.state, t.generation, t.lane, t.trace, belfry.ms_until(t.due_at) as delay_ms, o.id::text as batch, false as own
    from released t left join posted o on o.lane = t.lane and t.state = 'QUEUED' where ${isStarted("$5")}
  ) r
) as released
from done`);

/**
 * Writes outcomes of rows without slots and run that do not go back to their queue, any mix of them: nothing
 * follows from these. The lists that `settle-full` needs for the others would cost each of them a tenth.
 * Locks: jobs in id order, waiting, conditioned on RUNNING, the attempt and the worker; leases with SKIP LOCKED; then only
 * new rows.
 */
export const settlePlain = keptForAnySize<WrittenRows>("settle")(`
with mine as materialized (
  select ${chosen} from (
    select j.id, j.run_id, j.lease_id, ${place} as place
    from belfry.job j
    where j.id = any($1::bigint[]) and j.state = 'RUNNING' and j.worker = $13 and j.attempt = ($2::int[])[${place}]
      and num_nulls(j.slot_keys, j.run_id) = 2
    order by j.id
    for no key update of j
  ) j
), ${drawEvents}, ${moved}, moves as not materialized (${attemptEnds}
), ${ended}, ${events}, ${historyWithDetail}
select string_agg(id::text, ',') as ids from moved`);

/**
 * As `settle`, for all rows: frees their slots, and counts the end of a run's job at its successors and in its run's
 * deltas. A successor that may start within $15 ms is QUEUED here, $16 at most (the relay dispatches the rest); one that may
 * not is SKIPPED, and its own end is left for `resolve`. Wide joins are not locked: their predecessors append.
 *
 * Locks: its own rows and their narrow successors in one list in id order (waiting), since a successor may have the lower
 * id; then the slots of these attempts, which no other statement waits for. Counters and conditions are read from the
 * locked rows, and edges once: a planner that expects one row would otherwise compare each row with every other.
 */
export const settleFull = keptStatement<SettledRow>("settle-full")(`
with out_edges as materialized (
  select from_id, to_id, run_id, wide from belfry.edge where from_id = any($1::bigint[])
), locked as materialized (
  select id, state, attempt, worker, lease_id, run_id, ${releaseColumns}
  from belfry.job
  where id = any(array(select unnest($1::bigint[]) union select to_id from out_edges where not wide))
  order by id
  for no key update
), mine as materialized (
  select ${chosen} from (
    select j.id, j.run_id, j.lease_id, j.attempt, ${place} as place from locked j
    where j.state = 'RUNNING' and j.worker = $13
  ) j
  where id = ($1::bigint[])[place] and attempt = ($2::int[])[place]
), ${drawEvents}, ${moved}, ends as materialized (
  select m.id, m.run_id, m.state, (m.state = 'SUCCESS' or r.on_failure = 'continue')::int as ok,
    (m.state <> 'SUCCESS' and r.on_failure <> 'continue')::int as bad, r.state as run_state
  from moved m join belfry.run r on r.id = m.run_id
  where m.state >= 'SUCCESS'
), ${countEnds}, ${releaseWith({ windowMs: "$15", rows: "$16::int" })}, seats as (
  update belfry.slot s set job_id = case when m.goes_on then m.id end, free_from = null,
    attempt = case when m.goes_on then m.attempt + 1 end, kept_for = case when m.goes_on then m.generation end
  from (select *, state = 'QUEUED' and not passes and due_at <= now as goes_on from moved) m
  where m.slot_keys is not null and s.job_id = m.id and s.attempt = m.attempt and s.kept_for is null
  returning s.key, s.job_id
), freed as (
  select key from seats where job_id is null
), moves as (${attemptEnds}
  union all ${passages}
  union all select *, null from (${releasedMoves}) successors
), ${ended}, ${events}, ${historyWithDetail}, ${outbox}
select m.id, m.state, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, o.id as batch,
  (select array_agg(distinct key) from freed) as freed, true as own, case when m.state >= 'SUCCESS' then m.run_id end as run_id
from moved m left join posted o on o.lane = m.lane and m.state = 'QUEUED'
union all
select t.id, t.state, t.generation, t.lane, t.trace, belfry.ms_until(t.due_at), o.id, null, false, null
from released t left join posted o on o.lane = t.lane and t.state = 'QUEUED'
where ${isStarted("$15")}
order by 1`);

/** The rows just moved, for a hook in the same transaction; a task's payload is its run's input. Locks nothing: they are locked. */
export const readSettled = statement<HookRow>("settle-read")(`
select id, kind, case when task is null then payload else (select input from belfry.run r where r.id = run_id) end as payload,
  state, attempt, error_code, error_message
from belfry.job where id = any($1::bigint[]) order by id`);
