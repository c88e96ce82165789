import { keptStatement, statement } from "../statement.ts";
import { pauseValue } from "../../machine/pause.ts";
import { jobAndRun, result } from "../../insight/occurrence-ends.ts";
import type { FollowedTime, ScheduleRow } from "../../machine/schedule.ts";

/** One installer at a time: two deploys must not read each other's new versions as edits. Locks: an advisory lock. */
export const lockInstall = statement<never>("schedules-lock")(
  "select pg_advisory_xact_lock(hashtextextended('belfry.schedules', 0))",
);

/**
 * Schedules that are new or not as code says, and those of these apps that code no longer has. $1 ids $2 specs $3 apps.
 * Locks nothing: what code has already and stays the same is not touched.
 */
export const findChanged = statement<{ id: string }>("schedules-changed")(`
with given as materialized (
  select * from unnest($1::text[], $2::jsonb[]) as v (id, spec)
)
select g.id from given g left join belfry.schedule s on s.id = g.id
where s.id is null or s.removed_at is not null or s.source <> 'code' or s.spec is distinct from g.spec
union all
select s.id from belfry.schedule s
where s.app = any($3::text[]) and s.source = 'code' and s.removed_at is null
  and not exists (select from given g where g.id = s.id)`);

/**
 * What a deployment does with these schedules, of which it found that they change: drops those without a spec, edits those whose
 * spec differs. $1 ids $2 specs, null for those that code no longer has.
 * Locks: their rows in id order, waiting.
 */
export const lockChanged = statement<{ id: string; what: "drop" | "edit" | "none" }>("schedules-lock-changed")(`
with given as materialized (
  select * from unnest($1::text[], $2::jsonb[]) as v (id, spec)
), mine as materialized (
  select s.id, s.spec, g.spec as wanted from belfry.schedule s join given g on g.id = s.id
  order by s.id
  for no key update of s
)
select id, case when wanted is null then 'drop' when wanted <> spec then 'edit' else 'none' end as what
from mine
order by id`);

/** Jobs of times after now that were decided and have not started. $1 schedule ids, locked before. Locks nothing. */
export const findPlanned = statement<{ id: string }>("schedules-planned")(`
select job_id as id from belfry.occurrence
where schedule_id = any($1::text[]) and nominal_at > belfry.now() and outcome = 'PLANNED' and job_id is not null
order by job_id`);

/**
 * Withdraws the decisions for times after now: deletes the occurrences. Jobs that run or ran stay. $1 schedule ids, locked
 * before $2 jobs that were canceled in this transaction. Locks: the occurrences, after the jobs, because a claim does so too.
 */
export const withdrawPlanned = statement<never>("schedules-withdraw")(`
delete from belfry.occurrence
where schedule_id = any($1::text[]) and nominal_at > belfry.now()
  and (outcome = 'PLANNED' or job_id is null or job_id = any($2::bigint[]))`);

/**
 * Marks them as removed, and their jobs that wait to be canceled by passes; a claim skips these at once. Their past occurrences and
 * versions stay: they are history, and a last version without a spec says until when. The row stays too, for the jobs and for times
 * that a tick has to decide; it neither pauses nor disables a job that a person retries.
 * $1 ids. Locks: rows that are locked already.
 */
export const removeSchedules = statement<never>("schedules-remove")(`
with doomed as materialized (
  select id, carry ? 'edited' or (enabled and decided_until < belfry.now()) as is_behind
  from belfry.schedule where id = any($1::text[])
), hidden as (
  update belfry.schedule s set version = s.version + 1, removed_at = belfry.now(), canceled_below = s.version + 1, paused_until = null,
    enabled = true, next_at = case when d.is_behind then belfry.now() end,
    carry = case when d.is_behind
      then coalesce(s.carry, '{"missed": 0, "missedUntil": null, "catchUpUntil": null}') || '{"edited": true}' end,
    updated_at = belfry.now()
  from doomed d where s.id = d.id
  returning s.id, s.version
)
insert into belfry.schedule_version (schedule_id, version, spec, from_at)
select id, version, 'null', belfry.now() from hidden
on conflict (schedule_id, version) do nothing`);

/** A removed schedule `s` of which every time is decided: one that comes back begins as a new one. */
export const isDecided = "s.removed_at is not null and s.next_at is null";

/**
 * New schedules begin now; a changed one begins again from now, under a new version. Undecided times before the change belong
 * to the version before it, as `carry` says, except those of a disabled schedule, which have no row. The rest of `carry` stays:
 * several edits in a row must not each begin a catch-up. A disabled schedule is not read again once that is done. A removed
 * one that comes back continues its versions, and the undecided times before its removal.
 * $1 ids $2 specs. Locks: rows in id order (the changed ones are locked already).
 */
export const writeSchedules = statement<never>("schedules-write")(`
with given as materialized (
  select id, spec from unnest($1::text[], $2::jsonb[]) as v (id, spec) order by id
), written as (
  insert into belfry.schedule as s
    (id, app, version, source, spec, enabled, decided_until, next_at, ledger_from, created_at, updated_at)
  select id, spec ->> 'app', 1 + coalesce((select max(v.version) from belfry.schedule_version v where v.schedule_id = g.id), 0),
    'code', spec, (spec ->> 'enabled')::boolean, belfry.now(), case when (spec ->> 'enabled')::boolean then belfry.now() end,
    belfry.now(), belfry.now(), belfry.now()
  from given g
  on conflict (id) do update set
    app = excluded.app, version = s.version + 1, spec = excluded.spec, enabled = excluded.enabled,
    decided_until = case when ${isDecided} then belfry.now() when s.enabled or s.carry ? 'edited' then least(s.decided_until, belfry.now()) else belfry.now() end,
    carry = case when ${isDecided} then null when s.enabled and s.decided_until < belfry.now()
      then coalesce(s.carry, '{"missed": 0, "missedUntil": null, "catchUpUntil": null}') || '{"edited": true}'
      else s.carry end,
    next_at = case when excluded.enabled then belfry.now() when ${isDecided} then null
      when s.carry ? 'edited' or (s.enabled and s.decided_until < belfry.now()) then belfry.now() end,
    ledger_from = case when s.removed_at is null then s.ledger_from else belfry.now() end,
    created_at = case when s.removed_at is null then s.created_at else belfry.now() end,
    removed_at = null, updated_at = belfry.now()
  where s.spec is distinct from excluded.spec or s.removed_at is not null
  returning id, version, spec
)
insert into belfry.schedule_version (schedule_id, version, spec, from_at)
select id, version, spec, belfry.now() from written
on conflict (schedule_id, version) do nothing`);

/** Code wins for its own ids, also for one that people made before. $1 ids. Locks: rows that are locked already. */
export const takeOver = statement<never>("schedules-take-over")(
  "update belfry.schedule set source = 'code', updated_at = belfry.now() where id = any($1::text[]) and source <> 'code'",
);

/** A `ScheduleRow`; the table has no other name in the query. */
export const scheduleColumns = `id, version, source, ${pauseValue} as pause, spec, belfry.ms(decided_until) as "decidedUntil",
  belfry.ms(next_at) as "nextAt", carry`;

/** Schedules that a tick must look at before now + $1, oldest first, with that now; also removed ones that are behind. Reads only those. Locks nothing. */
export const readDue = keptStatement<{ now: number; isRemoved: boolean } & (ScheduleRow | { id: null })>(
  "schedules-due",
)(`
select belfry.ms(belfry.now()) as now, s.*
from (select true) as one left join lateral (
  select ${scheduleColumns}, removed_at is not null as "isRemoved"
  from belfry.schedule
  where next_at is not null and next_at <= belfry.now() + belfry.span($1::float8)
  order by belfry.schedule.next_at, id limit $2
) s on true`);

/**
 * Chains with the times of the schedule before them, of which they have no row: of the oldest $2 times after `decided_until` each.
 * Those are read by the index `occurrence_history`, however many there are before or behind them. $1 ids. Locks nothing.
 */
export const readChains = statement<ScheduleRow & { now: number; times: FollowedTime[]; until: number }>(
  "schedules-chains",
)(`
select s.*, belfry.ms(belfry.now()) as now, x.times, x.until
from (
  select ${scheduleColumns}, spec #>> '{expression,schedule}' as leader, belfry.schedule.decided_until as since
  from belfry.schedule
  where id = any($1::text[]) and spec #>> '{expression,form}' = 'after' and enabled and removed_at is null and next_at is null
) s
cross join lateral (
  select coalesce(jsonb_agg(jsonb_build_object('nominalAt', belfry.ms(o.nominal_at), 'localTime', o.local_time, 'fold', o.fold,
      'timezone', o.timezone, 'outcome', o.outcome, 'reason', o.reason, 'calendar', o.calendar, 'isCatchUp', o.catch_up,
      'result', e.result, 'endedAt', e.ended_at) order by o.nominal_at, o.local_time, o.fold, o.timezone)
      filter (where c.schedule_id is null), '[]') as times,
    case when count(*) = $2::int then belfry.ms(max(o.nominal_at)) - 1 else belfry.ms(least(belfry.now(),
      (select l.decided_until from belfry.schedule l where l.id = s.leader))) end as until
  from (
    select * from belfry.occurrence
    where schedule_id = s.leader and nominal_at > s.since and nominal_at <= belfry.now()
    order by nominal_at, local_time, fold, timezone limit $2
  ) o
  left join belfry.occurrence c on c.schedule_id = s.id and c.local_time = o.local_time and c.fold = o.fold and c.timezone = o.timezone
  ${jobAndRun}
  cross join lateral (
    select ${result} as result, belfry.ms(case when r.id is null then j.finished_at else r.finished_at end) as ended_at
  ) e
) x
where jsonb_array_length(x.times) > 0
order by s.id`);

/** $1 limit $2 the id to begin after. Locks nothing. */
export const readSchedules = statement<ScheduleRow>("schedules")(`
select ${scheduleColumns}
from belfry.schedule where removed_at is null and id > $2 order by id limit $1`);
