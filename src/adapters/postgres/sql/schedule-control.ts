import { statement } from "../statement.ts";
import type { JobView, RunId } from "../../../core/job/job.ts";
import { jobColumns } from "./job-columns.ts";
import {
  isDecided,
  occurrenceColumns,
  type OccurrenceRow,
  scheduleColumns,
  type StoredScheduleRow,
} from "./schedule.ts";

export interface FactsRow {
  readonly now: number;
  readonly ledger_from: number | null;
  readonly version: number | null;
  readonly spec: unknown;
  readonly from_at: number;
}

/** The newest versions there were, the oldest of them first; a version whose spec is JSON null marks a deletion. Locks nothing. */
export const readVersions = statement<FactsRow>(
  "schedule-versions",
  `
select belfry.ms(belfry.now()) as now, belfry.ms(s.ledger_from) as ledger_from, v.version, v.spec,
  belfry.ms(v.from_at) as from_at
from (
  select * from belfry.schedule_version where schedule_id = $1 order by version desc limit $2
) v left join belfry.schedule s on s.id = v.schedule_id and s.removed_at is null
order by v.version`,
);

/** Locks nothing. */
export const readSchedule = statement<StoredScheduleRow>(
  "schedule",
  `
select ${scheduleColumns}
from belfry.schedule where id = $1 and removed_at is null`,
);

/** Locks: the schedule's row, waiting, so that no tick plans it and no other call edits it. */
export const lockSchedule = statement<{
  source: "code" | "api";
  version: number;
  same: boolean;
  is_canceling: boolean;
}>(
  "schedule-lock",
  "select source, version, spec = $2::jsonb as same, canceled_below is not null as is_canceling from belfry.schedule where id = $1 and removed_at is null for no key update",
);

/**
 * A schedule that people made begins now, under a version its id never had. A deleted one of this id may still have
 * undecided times: its row is taken over with them. $1 spec. Locks: the new row, or the deleted one, waiting.
 */
export const insertSchedule = statement<{ id: string }>(
  "schedule-insert",
  `
with given as materialized (
  select spec, spec ->> 'id' as id from (select $1::jsonb as spec) one
), made as (
  insert into belfry.schedule as s
    (id, app, version, source, spec, enabled, decided_until, next_at, ledger_from, created_at, updated_at)
  select id, spec ->> 'app', 1 + coalesce((select max(v.version) from belfry.schedule_version v where v.schedule_id = g.id), 0),
    'api', spec, (spec ->> 'enabled')::boolean, belfry.now(), case when (spec ->> 'enabled')::boolean then belfry.now() end,
    belfry.now(), belfry.now(), belfry.now()
  from given g
  on conflict (id) do update set
    app = excluded.app, version = s.version + 1, source = 'api', spec = excluded.spec, enabled = excluded.enabled,
    decided_until = case when ${isDecided} then belfry.now() else least(s.decided_until, belfry.now()) end, carry = case when ${isDecided} then null else s.carry end,
    next_at = case when excluded.enabled or not (${isDecided}) then belfry.now() end, ledger_from = belfry.now(), removed_at = null, created_at = belfry.now(), updated_at = belfry.now()
  where s.removed_at is not null
  returning id, version, spec
), versioned as (
  insert into belfry.schedule_version (schedule_id, version, spec, from_at)
  select id, version, spec, belfry.now() from made
)
select id from made`,
);

/** The same pause again changes nothing. $1 id $2 paused $3 until $4 by whom $5 why. Locks: the row, waiting. */
export const setPause = statement<{ id: string }>(
  "schedule-pause",
  `
update belfry.schedule set paused_until = case when $2::boolean then coalesce(belfry.at($3::float8), 'infinity') end,
  paused_at = case when $2::boolean then belfry.now() end, paused_by = $4, pause_reason = $5, updated_at = belfry.now()
where id = $1 and removed_at is null
  and (paused_until, pause_reason) is distinct from (case when $2::boolean then coalesce(belfry.at($3::float8), 'infinity') end, $5::text)
returning id`,
);

/** By reading or by instant: two index scans, because an OR of both reads the whole ledger. $1 id $2 readings $3 instants $4 limit. */
export const readOccurrencesAt = statement<OccurrenceRow>(
  "occurrences-at",
  `
with keys as (
  select schedule_id, local_time, fold, timezone from belfry.occurrence where schedule_id = $1 and local_time = any($2::text[])
  union
  select schedule_id, local_time, fold, timezone from belfry.occurrence
  where schedule_id = $1 and nominal_at = any(array(select belfry.at(i) from unnest($3::float8[]) as i))
)
select o.schedule_id, o.local_time, o.fold, o.timezone, belfry.ms(o.nominal_at) as nominal_at, o.outcome, o.reason,
  belfry.ms(o.decided_at) as decided_at, o.lateness_ms, o.schedule_version, o.job_id
from keys k cross join lateral (
  select * from belfry.occurrence i where i.schedule_id = k.schedule_id and i.local_time = k.local_time and i.fold = k.fold
    and i.timezone = k.timezone
) o
order by o.nominal_at, o.local_time, o.fold, o.timezone limit $4`,
);

/** $1 id $2 from $3 until $4 limit. Locks nothing. */
export const readOccurrencesBetween = statement<OccurrenceRow>(
  "occurrences-between",
  `
select ${occurrenceColumns}
from belfry.occurrence
where schedule_id = $1 and nominal_at >= belfry.at($2::float8) and nominal_at <= belfry.at($3::float8)
order by belfry.occurrence.nominal_at, local_time, fold, timezone limit $4`,
);

/**
 * Who held a slot that this job needed: the newest job before or shortly after it with the same key that had an attempt at
 * that time, or had started a run that was open then. $1 job $2 prefix of the key $3 instant $4 ids to look back $5 ids to look ahead
 * $6 times of the schedule. Bounded: the holder is nearly always the fire before.
 * Locks nothing.
 */
export const findHolder = statement<JobView & { holding_run: RunId | null }>(
  "slot-holder",
  `
with mine as materialized (
  select id, schedule_id, scheduled_for, array(select k from unnest(slot_keys) as k where starts_with(k, $2)) as keys
  from belfry.job where id = $1::bigint
), near as materialized (
  select j.id from mine m join belfry.job j on j.id between m.id - $4::bigint and m.id + $5::bigint
  where j.id <> m.id and j.slot_keys && m.keys and j.started_at is not null
  union
  select j.id from mine m cross join lateral (
    select o.job_id from belfry.occurrence o
    where o.schedule_id = m.schedule_id and o.nominal_at <= m.scheduled_for and o.job_id is not null
    order by o.nominal_at desc limit $6
  ) o join belfry.job j on j.id = o.job_id
  where j.id < m.id and j.slot_keys && m.keys
)
select ${jobColumns}, r.id as holding_run
from belfry.job j left join lateral (
  select id from belfry.run
  where starter_id = j.id and j.finished_at < belfry.at($3::float8) and created_at <= belfry.at($3::float8)
    and (belfry.run.finished_at is null or belfry.run.finished_at >= belfry.at($3::float8))
  order by id desc limit 1
) r on true
where j.id = any(array(select id from near)) and (
  (j.state = 'RUNNING' and j.started_at <= belfry.at($3::float8))
  or (j.state = 'SUCCESS' and j.started_at <= belfry.at($3::float8) + interval '1 ms' and j.finished_at >= belfry.at($3::float8))
  or exists (
    select from belfry.history h where h.job_id = j.id and h.from_state = 'RUNNING'
      and h.started_at <= belfry.at($3::float8) + interval '1 ms' and h.at >= belfry.at($3::float8)
  )
  or r.id is not null
)
order by j.id desc limit 1`,
);
