import { statement } from "../statement.ts";
import type { DispatchedRow } from "./dispatch.ts";
import { again, endedKind, runAgainAndDispatch } from "./put-back.ts";
import { drawEvents, events, history } from "./record.ts";
import type { MovedRow } from "./rescue.ts";
import { afterRows, cancelRows } from "./rows.ts";

/**
 * `locked` -> CANCELED. A RUNNING one keeps its slots until its handler is gone: two handlers must not run together. That is at the
 * latest when its lease has ended, also if a heartbeat under way renews it just now. So does the run of it, if that is being canceled.
 * Its occurrence, if still PLANNED, becomes SKIPPED.
 */
const canceled = (because: { job: string; occurrence: string; caller: string }): string => `mine as materialized (
  select id, state, lease_id, lease_ms,
    case state when 'PENDING' then 1 when 'QUEUED' then 2 when 'RETRY_WAIT' then 3 else 3 + dense_rank() over (order by worker) end as kind
  from locked
), ${drawEvents}, moved as (
  update belfry.job j set state = 'CANCELED', event_id = d.ids[m.kind], finished_at = belfry.now(), lease_id = null,
    hold = 'none', held_on = ''
  from mine m cross join drawn d where j.id = m.id
  returning j.*, m.state as was, m.lease_id as was_lease_id
), left_behind as (
  update belfry.slot s set free_from = greatest(l.until, belfry.now() + belfry.span(m.lease_ms + 1000))
  from moved m left join belfry.lease l on l.id = m.was_lease_id
  where s.job_id = m.id and s.attempt = m.attempt and s.kept_for is null and m.was = 'RUNNING'
), left_to_run as (
  update belfry.slot s set free_from = greatest(s.free_from, t.until) from (
    select r.starter_id, max(greatest(l.until, belfry.now() + belfry.span(m.lease_ms + 1000))) as until
    from moved m join belfry.run r on r.id = m.run_id left join belfry.lease l on l.id = m.was_lease_id
    where m.was = 'RUNNING' and r.state = 'CANCELING' group by r.starter_id
  ) t
  where s.job_id = t.starter_id and s.n > 0 and s.attempt is null and s.kept_for is null
), unseated as (
  update belfry.slot s set job_id = null, attempt = null, kept_for = null
  where s.job_id = any(array(select id from moved)) and (s.n = 0 or s.kept_for is not null)
), decided as (
  update belfry.occurrence o set outcome = 'SKIPPED', reason = ${because.occurrence}, decided_at = belfry.now(),
    lateness_ms = belfry.ms_since(coalesce(o.effective_at, o.nominal_at))
  where o.job_id = any(array(select id from moved)) and o.outcome = 'PLANNED'
), moves as (
  select event_id, id, was as from_state, state as to_state, attempt, generation, lane,
    case when was = 'RUNNING' then worker end as worker, ${because.job} as reason, ${because.caller} as caller, null::text as error_code,
    null::text as error_message, case when was = 'RUNNING' then started_at end as started_at
  from moved
), ${events}, ${history}
select id, state, kind, payload, attempt, generation, lane, trace, 0::float8 as delay_ms, null::bigint as batch,
  error_code, error_message, run_id, null::text[] as freed
from moved
order by id`;

/**
 * What is not final -> CANCELED, and what runs for the rows of a task with it. $1 ids $2 reason $3 only what waits $4 caller.
 * Locks: runs of rows; then jobs in id order, waiting; then their slots; then their occurrences. Leases are only read.
 */
export const cancelOpen = statement<MovedRow>("cancel")(`
with ${cancelRows(
  `select id from belfry.job
    where id = any($1::bigint[]) and task is not null and finished_at is null and not ($3::boolean and state = 'RUNNING')`,
  "$4::text",
)}, locked as materialized (
  select id, state, lease_id, lease_ms, worker from belfry.job
  where id = any($1::bigint[]) and finished_at is null and not ($3::boolean and state = 'RUNNING') and ${afterRows}
  order by id
  for no key update
), ${canceled({ job: "$2::text", occurrence: "$2::text", caller: "$4::text" })}`);

/** Removed schedules, and those that came back, in the order of the only index that has it: no other plan is cheaper. */
const removals = (limit: string): string =>
  `select id, version, canceled_below from belfry.schedule where canceled_below is not null order by canceled_below limit ${limit}`;

/** Planned times of schedule `s` whose job a removal leaves to be canceled: `o.job_id`. */
const removedJobs = `belfry.occurrence o join belfry.job j on j.id = o.job_id and j.finished_at is null and j.state <> 'RUNNING'
    where o.schedule_id = s.id and o.outcome = 'PLANNED' and o.schedule_version < s.canceled_below`;

/**
 * A page of the jobs that wait of removed schedules -> CANCELED, also of those that came back under a later version. $1 limit.
 * Locks: occurrences, SKIP LOCKED; then their jobs in id order, SKIP LOCKED: it never waits for a claim, which has the job first.
 * Then their slots.
 */
export const cancelRemoved = statement<MovedRow>("cancel-removed")(`
with page as materialized (
  select w.job_id from (${removals("$1")}) s cross join lateral (
    select o.job_id from ${removedJobs}
    order by o.nominal_at limit $1
    for no key update of o skip locked
  ) w
  limit $1
), locked as materialized (
  select id, state, lease_id, lease_ms, worker from belfry.job
  where id = any(array(select job_id from page)) and finished_at is null and state <> 'RUNNING'
  order by id
  for no key update skip locked
), ${canceled({ job: "'deleted'", occurrence: "'deleted'", caller: "null::text" })}`);

/**
 * Ends the removal of schedules of which no job waits: the row is deleted once its times are decided, and one that came back is
 * like any other. `left`: those of which jobs wait. The version is compared with that of the look, since a removal of just now has
 * jobs that the look did not see. $1 schedules looked at.
 * Locks: those schedules, SKIP LOCKED.
 */
export const endRemovals = statement<{ left: number }>("removals-end")(`
with looked as materialized (
  select s.id, s.version, exists (select from ${removedJobs}) as waits from (${removals("$1")}) s
), locked as materialized (
  select s.* from looked l cross join lateral (
    select id, removed_at, next_at from belfry.schedule
    where id = l.id and version = l.version and not l.waits
    for no key update skip locked
  ) s
), gone as (
  delete from belfry.schedule where id = any(array(select id from locked where removed_at is not null and next_at is null))
), ended as (
  update belfry.schedule set canceled_below = null where id = any(array(select id from locked where removed_at is null))
)
select count(*)::int as left from looked where waits`);

/** Jobs of removed schedules that are still to be canceled, $2 at most. $1 schedule, or null for all. Locks nothing. */
export const countRemoved = statement<{ jobs: number }>("removed-count")(`
select count(*)::int as jobs from (
  select from (${removals("$2")}) s cross join lateral (select from ${removedJobs} limit $2) w
  where $1::text is null or s.id = $1 limit $2
) page`);

/**
 * FAILED, CANCELED or SKIPPED run again, each due by the pace after the one before: QUEUED when due within the dispatch window, else
 * PENDING. Jobs of runs are put back by `resume`.
 * $1 ids $2 due time of the first $3 pace in ms $4 dispatch window $5 caller. Locks: jobs in id order, waiting.
 */
export const retryEnded = statement<DispatchedRow>("retry")(`
with locked as materialized (
  select ${again}, 'retry' as reason, ${endedKind} as kind from belfry.job
  where id = any($1::bigint[]) and state in ('FAILED', 'CANCELED', 'SKIPPED') and run_id is null
  order by id
  for no key update
), placed as (
  select *, greatest(belfry.now(), belfry.at($2::float8)) + (row_number() over (order by id) - 1) * belfry.span($3::float8) as due_at
  from locked
), mine as materialized (
  select id, state, blocked, catch_up, slot_keys, reason, due_at, due_at <= belfry.now() + belfry.span($4::float8) as starts,
    kind + 3 * (due_at <= belfry.now() + belfry.span($4::float8))::int as kind
  from placed
), ${runAgainAndDispatch("$5")}`);

/** Frees the slots that these attempts of canceled jobs still hold, but none of a job that has started a run: jobs of that may go on. Locks: those slots in (key, n) order. */
export const freeLeftSlots = statement<{ key: string }>("free-slots")(`
with gone as (
  select * from unnest($1::bigint[], $2::int[]) as v (job_id, attempt)
), mine as materialized (
  select s.key, s.n from belfry.slot s join gone g on g.job_id = s.job_id and g.attempt = s.attempt
  where s.free_from is not null and s.kept_for is null and not exists (select from belfry.run r where r.starter_id = s.job_id)
  order by s.key, s.n
  for no key update of s
), freed as (
  update belfry.slot s set job_id = null, attempt = null, free_from = null
  from mine m where s.key = m.key and s.n = m.n
  returning s.key
)
select distinct key from freed`);

/** Creates or changes groups. Locks: their rows in key order. $1 keys $2 sizes $3 on refusal $4 reasons $5 windows $6 only those that are new. */
export const writeGroups = statement<never>("slot-groups")(`
insert into belfry.slot_group as g (key, size, on_refusal, reason, window_ms)
select * from unnest($1::text[], $2::int[], $3::belfry.slot_refusal[], $4::text[], $5::int[]) as v (key, size, on_refusal, reason, window_ms)
order by key
on conflict (key) do update set size = excluded.size, on_refusal = excluded.on_refusal, reason = excluded.reason, window_ms = excluded.window_ms
where not $6 and (g.size, g.on_refusal, g.reason, g.window_ms) is distinct from (excluded.size, excluded.on_refusal, excluded.reason, excluded.window_ms)`);

/** Slot 0 is the waiting seat of a queue-one group. Locks only new rows. */
export const addSlots = statement<never>("slots-add")(`
insert into belfry.slot (key, n)
select g.key, n from belfry.slot_group g
cross join lateral generate_series(case g.on_refusal when 'queue-one' then 0 else 1 end, g.size) as n
where g.key = any($1::text[])
order by g.key, n
on conflict (key, n) do nothing`);

/** Retires free slots above the size; a taken or spent one is not used while it is above. Locks: those rows, SKIP LOCKED. */
export const retireSlots = statement<never>("slots-retire")(`
with spare as materialized (
  select s.key, s.n from belfry.slot s join belfry.slot_group g on g.key = s.key
  where g.key = any($1::text[]) and s.n > g.size and s.job_id is null and coalesce(s.free_from <= belfry.now(), true)
  order by s.key, s.n
  for update of s skip locked
)
delete from belfry.slot s using spare where s.key = spare.key and s.n = spare.n`);
