import type { State } from "../../machine/state.ts";
import { statement } from "../statement.ts";
import { againMoves, endedKind, runAgain } from "./put-back.ts";
import { drawEvents, events, history } from "./record.ts";
import { beforeEnough, releasedDue } from "./release.ts";

/** The run, for a resume. Locks: its row, so that no other statement adds it up. */
export const lockRun = statement<{ id: string }>("resume-lock")(
  "select id from belfry.run where id = $1 and state <> 'CANCELING' for no key update",
);

/**
 * What runs again: all that did not succeed and whose branch was taken, or ($2) the named ones and what was skipped downstream
 * of them. Locks nothing.
 */
export const chooseAgain = statement<{ id: string }>("resume-choose")(`
with recursive again as (
  select j.id from belfry.job j
  where j.run_id = $1::bigint and case when $2::bigint[] is null
    then j.state in ('FAILED', 'CANCELED') or (j.state = 'SKIPPED' and not j.not_taken)
    else j.id = any($2::bigint[]) and j.state in ('FAILED', 'CANCELED', 'SKIPPED') end
  union
  select t.id from again a join belfry.edge e on e.from_id = a.id join belfry.job t on t.id = e.to_id
  where t.state = 'SKIPPED' and not t.not_taken
)
select id from again order by id`);

/** Every job of the run that waits or will, so that counting and writing see the same. Locks: jobs in id order, waiting. */
export const lockWaiting = statement<{ id: string }>("resume-lock-jobs")(`
select id from belfry.job
where run_id = $1::bigint and (id = any($2::bigint[]) or ((finished_at is not null)::int = 0 and state = 'PENDING' and blocked))
order by id
for no key update`);

/** Every job of the run that a newer definition decides about. Locks: jobs in id order, waiting. */
export const lockOpen = statement<{ id: string }>("resume-lock-open")(`
select id from belfry.job
where run_id = $1::bigint and (state in ('FAILED', 'CANCELED', 'SKIPPED') or ((finished_at is not null)::int = 0 and state = 'PENDING' and blocked))
order by id
for no key update`);

/** All tasks of the run with the names before them. $1 run $2 those that are locked. Locks nothing. */
export const readStanding = statement<{
  id: string;
  task: string;
  state: State;
  not_taken: boolean;
  is_open: boolean;
  is_counted: boolean;
  after: string[];
}>("resume-standing")(`
select j.id, j.task, j.state, j.not_taken, j.id = any($2::bigint[]) as is_open, j.end_counted as is_counted,
  array(select p.task from belfry.edge e join belfry.job p on p.id = e.from_id where e.to_id = j.id) as after
from belfry.job j where j.run_id = $1::bigint order by j.id`);

/**
 * Tasks and their run as a newer definition has them, without edges, which are written next. $1 run $2 tasks $3 tasks that it does not
 * have $4 the run, by whose retention its tasks leave. What was started keeps its payload, and a signal that came early stays.
 * Locks: rows that are locked already.
 */
export const renewTasks = statement<never>("resume-renew")(`
with newer as materialized (
  select * from jsonb_to_recordset($2::jsonb) as t (id bigint, lane text, "leaseMs" int, "maxAttempts" int, slots text, payload jsonb,
    "dueAt" float8, rule belfry.join_rule, least int, wide boolean, "hasCondition" boolean, "waitMs" bigint, "forSignal" boolean)
), unlinked as (
  delete from belfry.edge where to_id = any(array(select id from newer)) or to_id = any($3::bigint[])
), renewed as (
  update belfry.job j set lane = n.lane, lease_ms = n."leaseMs", max_attempts = n."maxAttempts",
    slot_keys = n.slots::text[], payload = case when j.signaled_at is null and j.attempt = 0 then coalesce(n.payload, 'null') else j.payload end,
    due_at = case when j.attempt = 0 then coalesce(belfry.at(n."dueAt"), belfry.now()) else j.due_at end,
    join_rule = n.rule, join_least = nullif(n.least, 1), wide = n.wide, has_condition = n."hasCondition", wait_ms = n."waitMs",
    awaits_signal = n."forSignal"
  from newer n where j.id = n.id
)
update belfry.run r set version = v.version, shape = v.shape, on_failure = v."onFailure", tolerate = v.tolerate,
  retention_ms = v."retentionMs", continuation = case when r.continued_by is null then v.continuation else r.continuation end
from jsonb_to_record($4::jsonb) as v (version int, shape text, "onFailure" belfry.on_failure, tolerate numeric, "retentionMs" bigint,
  continuation jsonb)
where r.id = $1::bigint`);

/** A task that never ran keeps its due time: it may sleep. $1 ids $2 caller. Locks: rows that are locked already. */
export const resumeJobs = statement<{ id: string }>("resume-put-back")(`
with mine as materialized (
  select id, state, true as blocked, null::boolean as catch_up, null::text[] as slot_keys,
    case when attempt = 0 then greatest(due_at, belfry.now()) else belfry.now() end as due_at, false as starts,
    'resumed' as reason, ${endedKind} as kind
  from belfry.job where id = any($1::bigint[]) and state in ('FAILED', 'CANCELED', 'SKIPPED')
), ${runAgain}, moves as (
  ${againMoves("$2")}
), ${events}, ${history}, listed as (
  delete from belfry.run_done where job_id = any($1::bigint[])
)
select id from moved order by id`);

/**
 * Counters of everything that waits in the run, from its edges and states. An end that is not counted yet is still open.
 * A second statement after the locks: it must see what committed while they were waited for. $1 run $2 tasks that it has no more.
 * Locks: rows that are locked already.
 */
export const recount = statement<never>("resume-recount")(`
with waiting as materialized (
  select id, join_rule, join_least from belfry.job where run_id = $1::bigint and (finished_at is not null)::int = 0 and state = 'PENDING' and blocked
), counted as materialized (
  select w.id, w.join_rule, w.join_least, count(e.from_id)::int as n,
    count(*) filter (where e.from_id is not null and not (p.state >= 'SUCCESS' and p.end_counted))::int as open,
    count(*) filter (where p.end_counted and (p.state = 'SUCCESS' or (p.state = 'FAILED' and r.on_failure = 'continue')))::int as ok,
    count(*) filter (where p.end_counted and p.state > 'SUCCESS' and not p.not_taken
      and not (p.state = 'FAILED' and r.on_failure = 'continue'))::int as bad
  from waiting w join belfry.run r on r.id = $1::bigint
  left join belfry.edge e on e.to_id = w.id left join belfry.job p on p.id = e.from_id
  group by w.id, w.join_rule, w.join_least
), added as (
  delete from belfry.pred_delta where to_id = any(array(select id from waiting))
), verdicts as (
  select c.*, case when c.id = any($2::bigint[]) then 'removed' when c.n = 0 then 'ready' else belfry.join_verdict(c.join_rule, c.open, c.ok - ${beforeEnough("c")}, c.bad) end as verdict
  from counted c
), mine as materialized (
  select *, case verdict when 'upstream' then 1 when 'not taken' then 2 when 'removed' then 3 else 0 end as kind from verdicts
), ${drawEvents}, moved as (
  update belfry.job j set preds_open = m.open, preds_ok = m.ok, preds_bad = m.bad, blocked = m.verdict = 'wait',
    due_at = case when m.verdict = 'ready' then ${releasedDue("j")} else j.due_at end,
    state = case when m.kind > 0 then 'SKIPPED' else 'PENDING' end::belfry.job_state,
    event_id = case when m.kind > 0 then d.ids[m.kind] else j.event_id end,
    finished_at = case when m.kind > 0 then belfry.now() end,
    not_taken = m.verdict in ('not taken', 'removed')
  from mine m cross join drawn d where j.id = m.id
  returning j.event_id, j.id, j.state, j.attempt, j.generation, j.lane, m.verdict
), moves as (
  select event_id, id, 'PENDING'::belfry.job_state as from_state, state as to_state, attempt, generation, lane, null::text as worker,
    verdict as reason, null::text as caller, null::text as error_code, null::text as error_message, null::timestamptz as started_at
  from moved where state = 'SKIPPED'
), ${events}, ${history}
select`);

/** Lanes of the jobs that may start now: the relay dispatches them. $1 ids. Locks nothing. */
export const readyLanes = statement<{ lane: string }>("resume-lanes")(
  "select distinct lane from belfry.job where id = any($1::bigint[]) and state = 'PENDING' and not blocked",
);

/** The run is open again, its figures counted again. $1 run. Locks: its row, locked already. */
export const reopenRun = statement<never>("resume-run")(`
with counted as materialized (
  select count(*)::int as total, count(*) filter (where state >= 'SUCCESS' and end_counted)::int as done,
    count(*) filter (where state = 'SUCCESS' and end_counted)::int as ok,
    count(*) filter (where state = 'FAILED' and end_counted)::int as failed,
    count(*) filter (where state = 'SKIPPED' and end_counted)::int as skipped
  from belfry.job where run_id = $1::bigint
), gone as (
  delete from belfry.run_delta where run_id = $1::bigint
), opened as (
  update belfry.run r set state = 'RUNNING', stopped = false, withdrawn = null, finished_at = null, total = c.total, done = c.done, ok = c.ok,
    failed = c.failed, skipped = c.skipped
  from counted c where r.id = $1::bigint
)
insert into belfry.run_delta (run_id) values ($1::bigint)`);
