import { keptForAnySize, keptStatement, statement } from "../statement.ts";
import { drawEvents, events, history } from "./record.ts";
import { firstMoves } from "./insert.ts";
import type { DispatchedRow } from "./dispatch.ts";

/**
 * One run for each kind and key. A run that starts before its nominal time is prematerialized: it may be withdrawn until
 * then. Locks: its unique entry.
 */
export const insertRun = statement<{ id: string }>("run-insert")(`
insert into belfry.run (kind, key, version, state, sealed, total, starter_id, parent_id, input, on_failure, retention_ms, trace,
  shape, tolerate, continuation, created_at, prematerialized_for, prematerialized_by, schedule_id)
select $1, $2, $3, 'RUNNING', $4, $5, $6, $7, $8::jsonb, $9, $10, $11, $12, $13::numeric, $14::jsonb, belfry.now(), coalesce(j.effective_at, j.scheduled_for), j.schedule_id,
  coalesce(s.schedule_id, p.schedule_id)
from (select true) as one left join belfry.job s on s.id = $6 left join belfry.run p on p.id = s.run_id
left join belfry.job j on j.id = $6 and j.schedule_id is not null and coalesce(j.effective_at, j.scheduled_for) > belfry.now()
on conflict (kind, key) do nothing
returning id`);

/** As a range of one: of a kind that is new to its statistics, the planner would read each run. $1 kind $2 key. */
const ofKindAndKey = "(key, kind) >= ($2, $1) and (key, kind) <= ($2, $1)";

/** The run that has this kind and key: a second statement, since the insert cannot see rows that committed after it began. */
export const findRun = statement<{
  id: string;
  sealed: boolean;
  cursor: unknown;
  input: unknown;
  parent_id: string | null;
}>("run-find")(`select id, sealed, cursor, input, parent_id from belfry.run where ${ofKindAndKey}`);

/** Opens a run again that its own starter left unsealed, for its next attempt. $1 kind $2 key $3 starter. Locks: its row, waiting. */
export const reopenForStarter = statement<never>("run-reopen")(`
update belfry.run set state = 'RUNNING', sealed = false, error = null, finished_at = null
where ${ofKindAndKey} and starter_id = $3::bigint and error is not null and state in ('RUNNING', 'FAILED')`);

/**
 * Seals runs whose starter ended without doing so: they close FAILED once their jobs have ended. Those of a task that was canceled
 * are canceled with it. $1 limit. It reads only runs
 * that are not sealed. Locks: the runs and their starters, SKIP LOCKED: one that is tried again in between has another state by then.
 */
export const sealOrphans = statement<{ run_id: string }>("run-seal-orphans")(`
with mine as materialized (
  select r.id, j.state::text as ended, j.task is not null and j.state <> 'FAILED' as is_canceled from belfry.run r join belfry.job j on j.id = r.starter_id
  where not r.sealed and r.finished_at is null and j.finished_at is not null and j.state <> 'SUCCESS'
  order by r.id limit $1
  for no key update of r, j skip locked
), lone as materialized (
  select r.id, 'gone' as ended, false as is_canceled from belfry.run r
  where not r.sealed and r.finished_at is null and r.starter_id is not null
    and not exists (select from belfry.job j where j.id = r.starter_id)
  order by r.id limit $1
  for no key update skip locked
), sealed as (
  update belfry.run r set sealed = true, error = 'its starter is ' || o.ended,
    state = case when o.is_canceled then 'CANCELING' else r.state end
  from (select * from mine union all select * from lone) o where r.id = o.id
  returning r.id
)
insert into belfry.run_delta (run_id) select id from sealed returning run_id`);

/** Numbers for jobs whose edges must be known before they are written, as one text: `1,2,3`. */
export const drawIds = statement<{ ids: string }>("run-ids")(
  "select string_agg(nextval('belfry.job_id_seq')::text, ',') as ids from generate_series(1, $1::int)",
);

/**
 * Jobs of a new run. $1 ids $2 task names $3 predecessors $4 which definition $5 join rules $6 conditions; the last three may be one
 * element that stands for all. What tasks of one definition share comes once, by definition: $7 kinds $8 lanes $9 leases
 * $10 attempts $11 retentions $12 slot keys. $17 waits in ms
 * $18 whether a signal ends them $19 due times. $13 run $14 trace $15 wide joins over $16 payloads, as $4. Those without predecessors
 * that are due are QUEUED.
 * Locks only new rows.
 */
export const insertTaskRows = keptForAnySize<DispatchedRow>("run-tasks")(`
with how as materialized (
  select h.*, h.slots::text[] as slot_keys, t.due_at, t.due_at <= belfry.now() as is_due
  from unnest($7::text[], $8::text[], $9::int[], $10::int[], $11::bigint[], $12::text[], $17::bigint[], $18::boolean[], $19::float8[])
    with ordinality as h (kind, lane, lease_ms, max_attempts, retention_ms, slots, wait_ms, awaits_signal, due, nr)
  cross join lateral (
    select coalesce(belfry.at(h.due), belfry.now() + belfry.span(coalesce(h.wait_ms, 0)::float8)) as due_at
  ) t
), drawn as materialized (
  select belfry.next_event() as pending, belfry.next_event() as queued
), inserted as (
  insert into belfry.job (id, kind, payload, lane, state, event_id, due_at, generation, dispatched_at, lease_ms,
    max_attempts, retention_ms, slot_keys, trace, created_at, run_id, task, preds_open, join_rule, join_least, blocked, wide, has_condition,
    wait_ms, awaits_signal)
  overriding system value
  select v.id, h.kind, coalesce(v.payload, ($16::text[])[1])::jsonb, h.lane,
    case when s.starts then 'QUEUED'::belfry.job_state else 'PENDING'::belfry.job_state end,
    case when s.starts then d.queued else d.pending end,
    h.due_at, s.starts::int, case when s.starts then belfry.now() end, h.lease_ms, h.max_attempts, h.retention_ms,
    h.slot_keys, $14, belfry.now(), $13::bigint, v.task, v.preds, coalesce(v.rule, ($5::belfry.join_rule[])[1]),
    nullif(coalesce(v.least, ($20::int[])[1]), 1), v.preds > 0,
    v.preds > $15::int, coalesce(v.has_condition, ($6::boolean[])[1]), h.wait_ms, h.awaits_signal
  from unnest($1::bigint[], $2::text[], $3::int[], $4::int[], $5::belfry.join_rule[], $6::boolean[], $16::text[], $20::int[])
    as v (id, task, preds, how, rule, has_condition, payload, least)
  join how h on h.nr = coalesce(v.how, ($4::int[])[1])
  cross join lateral (select v.preds = 0 and h.is_due as starts) s
  cross join drawn d
  returning event_id, id, lane, state
), ${firstMoves}
select i.id, 1 as generation, i.lane, $14 as trace, 0::float8 as delay_ms, o.id as batch
from inserted i join posted o on o.lane = i.lane where i.state = 'QUEUED'
order by i.id`);

/** $1 from $2 to $3 wide, or one element that stands for all $4 run. Locks only new rows. */
export const insertEdges = statement<never>("run-edges")(`
insert into belfry.edge (from_id, to_id, wide, run_id)
select v.from_id, v.to_id, coalesce(v.wide, ($3::boolean[])[1]), $4::bigint
from unnest($1::bigint[], $2::bigint[], $3::boolean[]) as v (from_id, to_id, wide)`);

/** A run without jobs, a sealed or a canceled one may have no job left that ends: this delta makes `resolve` read it. */
export const nudgeRun = statement<never>("run-nudge")("insert into belfry.run_delta (run_id) values ($1)");

/**
 * Whether a page may be written: the run is open and the job that writes it is still this attempt's. $1 run $2 job
 * $3 attempt. Locks: the run for share, so that it is not canceled before the page is in; the job is only looked at.
 */
export const lockForPage = statement<{ id: string }>("run-page-lock")(`
select r.id from belfry.run r
where r.id = $1 and r.state = 'RUNNING' and not r.sealed
  and exists (select from belfry.job j where j.id = $2 and j.state = 'RUNNING' and j.attempt = $3)
for share of r`);

/** $1 run $2 cursor $3 jobs added. Locks: its row. */
export const writePage = statement<never>("run-page")(`
with moved as (
  update belfry.run set cursor = $2::jsonb where id = $1::bigint
)
insert into belfry.run_delta (run_id, total) values ($1::bigint, $3::int)`);

/**
 * No page follows, and the slots of the job that wrote them are the run's from here on. Locks: its row, also of one that is
 * being canceled, so that it cannot close between this and the commit; then the slots.
 */
export const sealRun = statement<{ id: string }>("run-seal")(`
with sealed as (
  update belfry.run set sealed = true where id = $1::bigint and state in ('RUNNING', 'CANCELING')
  returning id, state, starter_id
), passed as (
  update belfry.slot s set attempt = null from sealed where s.job_id = sealed.starter_id and s.n > 0 and s.kept_for is null
), nudged as (
  insert into belfry.run_delta (run_id) select id from sealed
)
select id from sealed where state = 'RUNNING'`);

/** The slots of the job that starts a run pass to the run. $1 job, RUNNING, in the transaction of its success. Locks: them. */
export const passSlots = statement<never>("run-pass-slots")(
  "update belfry.slot set attempt = null where job_id = $1::bigint and n > 0 and kept_for is null",
);

/**
 * Slots that runs held which are closed by now, and of whose canceled jobs no handler goes on. A statement of its own after the close, because it must see a starter that
 * committed while the close waited for the run; a pass repeats it after a crash in between. It reads only slots that runs
 * hold. Locks: those in (key, n) order, SKIP LOCKED.
 */
export const freePassedSlots = keptStatement<{ key: string }>("run-free-slots")(`
with mine as materialized (
  select s.key, s.n from belfry.slot s
  where s.n > 0 and s.attempt is null and s.job_id is not null and coalesce(s.free_from <= belfry.now(), true)
    and exists (select from belfry.run r where r.starter_id = s.job_id and r.finished_at is not null)
  order by s.key, s.n
  for no key update of s skip locked
), freed as (
  update belfry.slot s set job_id = null, free_from = null from mine m where s.key = m.key and s.n = m.n
  returning s.key
)
select distinct key from freed`);

/** $1 run $2 who asked, which its jobs' history names. Locks: its row, so a page that is being written ends first. */
export const markCanceling = statement<{ id: string }>("run-cancel")(`
with mine as materialized (
  select id, state from belfry.run where id = $1::bigint and state in ('RUNNING', 'CANCELING') for no key update
), moved as (
  update belfry.run r set state = 'CANCELING', sealed = true, canceled_by = $2::text from mine m where r.id = m.id and m.state = 'RUNNING' returning r.id
), nudged as (
  insert into belfry.run_delta (run_id) select id from moved
)
select id from mine`);

/**
 * Runs that are being canceled and have open jobs left. $1 limit $2 a kind, of which only withdrawn
 * ones are meant, or null. A scalar looks for the jobs: an `exists` is planned as a join with all open ones. Locks nothing.
 */
export const findCanceling = keptStatement<{ id: string }>("run-canceling")(`
select r.id from belfry.run r
where r.state = 'CANCELING'
  and ($2::text is null or (r.withdrawn is not null and r.kind = $2))
  and (select true from belfry.job j where j.run_id = r.id and (j.finished_at is not null)::int = 0 limit 1)
order by r.id limit $1`);

/** Open jobs of a run that is being canceled. $1 run $2 limit. Locks nothing: the cancel locks them in id order. */
export const openJobs = statement<{ id: string; reason: string; caller: string | null }>("run-open-jobs")(`
select j.id, coalesce(r.withdrawn, 'run canceled') as reason, r.canceled_by as caller from belfry.run r cross join lateral (
  select id from belfry.job
  where (run_id, (finished_at is not null)::int, id) >= ($1::bigint, 0, 0) and run_id <= $1::bigint
    and (finished_at is not null)::int = 0
  order by run_id, (finished_at is not null)::int, id limit $2
) j
where r.id = $1::bigint and r.state = 'CANCELING'
order by j.id`);

/** Rows that wait or are dispatched -> SKIPPED: `mine` of id, reason and not_taken. `moved` says of which runs. */
export const skip = `moved as (
  update belfry.job j set state = 'SKIPPED', event_id = d.ids[m.kind], finished_at = belfry.now(), not_taken = m.not_taken,
    blocked = false, hold = 'none', held_on = ''
  from mine m cross join drawn d where j.id = m.id
  returning j.event_id, j.id, j.state, j.attempt, j.generation, j.lane, j.run_id, m.state as was, m.reason
), moves as (
  select event_id, id, was as from_state, state as to_state, attempt, generation, lane, null::text as worker, reason, null::text as caller,
    null::text as error_code, null::text as error_message, null::timestamptz as started_at
  from moved
), ${events}, ${history}
select id, run_id from moved order by id`;

/** QUEUED under these generations -> SKIPPED, not taken. $1 ids, ascending, $2 generations $3 reason. Locks: jobs in id order. */
export const skipJobs = statement<{ id: string; run_id: string | null }>("skip")(`
with mine as materialized (
  select j.id, j.state, $3::text as reason, true as not_taken, 1 as kind from belfry.job j
  where j.id = any($1::bigint[]) and j.state = 'QUEUED' and j.generation = ($2::int[])[width_bucket(j.id, $1::bigint[])]
  order by j.id
  for no key update of j
), ${drawEvents}, ${skip}`);
