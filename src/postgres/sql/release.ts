/** How the end of a run's job reaches its successors: shared by `settle-tasks`, `settle-full`, `resolve-ends` and `resolve-joins`. */

/** `ends`: id, run_id, state, ok, bad, run_state of jobs that ended; `out_edges`: what they lead to. Locks only new rows. */
export const countEnds = `counted as materialized (
  select e.to_id, e.run_id, e.wide, count(*)::int as n, sum(d.ok)::int as ok, sum(d.bad)::int as bad
  from ends d join out_edges e on e.from_id = d.id
  where d.run_state = 'RUNNING'
  group by e.to_id, e.run_id, e.wide
), appended as (
  insert into belfry.pred_delta (run_id, to_id, n, ok, bad)
  select run_id, to_id, n, ok, bad from counted where wide order by to_id
), totaled as (
  insert into belfry.run_delta (run_id, done, ok, failed, skipped)
  select run_id, count(*), count(*) filter (where state = 'SUCCESS'), count(*) filter (where state = 'FAILED'),
    count(*) filter (where state = 'SKIPPED')
  from ends group by run_id order by run_id
)`;

/** When a task is due that may start: a wait ends with its time, or with its signal. Read from the locked row. */
export const releasedDue = (row: string): string => `case when ${row}.signaled_at is not null then belfry.now()
      when ${row}.wait_ms is not null then belfry.now() + belfry.span(${row}.wait_ms::float8) else ${row}.due_at end`;

/** How many predecessors may succeed without being enough, where one is in other joins. */
export const beforeEnough = (row: string): string => `(coalesce(${row}.join_least, 1) - 1)`;

/** What the release of a successor is judged by. */
export const releaseColumns =
  "blocked, join_rule, join_least, preds_open, preds_ok, preds_bad, due_at, wait_ms, signaled_at";

/**
 * What `counted` (to_id, wide, n, ok, bad) does to successors that `locked` holds: those that may start and are due are
 * QUEUED, `rows` at most where it is given, those that never may are SKIPPED. `released` answers them all. A full join behind
 * a fence: the planner expects one row that is blocked, and would compare each with every other.
 */
export const releaseWith = ({
  windowMs,
  rows,
}: {
  windowMs: string;
  rows?: string;
}): string => `judged as materialized (
  select l.id, l.n, l.ok, l.bad, v.verdict, v.due_at,
    v.verdict = 'ready' and v.due_at <= belfry.now() + belfry.span(${windowMs}::float8)
      ${rows === undefined ? "" : `and row_number() over (partition by v.verdict order by l.id) <= ${rows}`} as starts,
    case v.verdict when 'upstream' then 2 when 'not taken' then 3 else 1 end as kind
  from (
    select l.id, state, ${releaseColumns}, wide, n, ok, bad from counted c full join locked l on l.id = c.to_id offset 0
  ) l
  cross join lateral (
    select belfry.join_verdict(l.join_rule, l.preds_open - l.n, l.preds_ok + l.ok - ${beforeEnough("l")}, l.preds_bad + l.bad) as verdict,
      ${releasedDue("l")} as due_at
  ) v
  where not l.wide and l.state = 'PENDING' and l.blocked
), release_ids as materialized (
  select array_agg(belfry.next_event()) as ids from generate_series(1, (select max(kind) from judged)::int)
), released as (
  update belfry.job t set
    preds_open = t.preds_open - j.n, preds_ok = t.preds_ok + j.ok, preds_bad = t.preds_bad + j.bad,
    blocked = j.verdict = 'wait', due_at = case when j.verdict = 'ready' then j.due_at else t.due_at end,
    state = case when j.kind > 1 then 'SKIPPED' when j.starts then 'QUEUED' else 'PENDING' end::belfry.job_state,
    event_id = case when j.kind > 1 or j.starts then d.ids[j.kind] else t.event_id end,
    generation = t.generation + j.starts::int,
    dispatched_at = case when j.starts then belfry.now() end,
    finished_at = case when j.kind > 1 then belfry.now() end,
    not_taken = j.verdict = 'not taken'
  from judged j cross join release_ids d where t.id = j.id
  returning t.event_id, t.id, t.state, t.attempt, t.generation, t.lane, t.trace, t.due_at, t.run_id, j.verdict
)`;

/** The part of `moves` that they are. */
export const releasedMoves = `
  select event_id, id, 'PENDING'::belfry.job_state as from_state, state as to_state, attempt, generation, lane, null as worker,
    case state when 'SKIPPED' then verdict end as reason, null as caller, null as error_code, null as error_message,
    null::timestamptz as started_at
  from released where state <> 'PENDING'`;
