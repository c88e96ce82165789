import { statement } from "../statement.ts";
import type { ScheduleRow } from "../../machine/schedule.ts";
import type { ScheduleFacts, ScheduleVersion } from "../../machine/schedule-store.ts";
import { isDecided, scheduleColumns } from "./schedule.ts";

/** The newest versions there were, the oldest of them first; a version whose spec is JSON null marks a deletion. Locks nothing. */
export const readVersions = statement<ScheduleVersion & Pick<ScheduleFacts, "now" | "ledgerFrom">>(
  "schedule-versions",
)(`
select belfry.ms(belfry.now()) as now, belfry.ms(s.ledger_from) as "ledgerFrom", v.version, v.spec,
  belfry.ms(v.from_at) as "fromAt"
from (
  select * from belfry.schedule_version where schedule_id = $1 order by version desc limit $2
) v left join belfry.schedule s on s.id = v.schedule_id and s.removed_at is null
order by v.version`);

/** Locks nothing. */
export const readSchedule = statement<ScheduleRow>("schedule")(`
select ${scheduleColumns}
from belfry.schedule where id = $1 and removed_at is null`);

/** Locks: the schedule's row, waiting, so that no tick plans it and no other call edits it. */
export const lockSchedule = statement<{
  source: "code" | "api";
  version: number;
  same: boolean;
  isCanceling: boolean;
}>("schedule-lock")(`
select source, version, spec = $2::jsonb as same, canceled_below is not null as "isCanceling"
from belfry.schedule where id = $1 and removed_at is null for no key update`);

/**
 * A schedule that people made begins now, under a version its id never had. A deleted one of this id may still have
 * undecided times: its row is taken over with them. $1 spec. Locks: the new row, or the deleted one, waiting.
 */
export const insertSchedule = statement<{ id: string }>("schedule-insert")(`
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
select id from made`);

/** The same pause again changes nothing. $1 id $2 paused $3 until $4 by whom $5 why. Locks: the row, waiting. */
export const setPause = statement<{ id: string }>("schedule-pause")(`
update belfry.schedule set paused_until = case when $2::boolean then coalesce(belfry.at($3::float8), 'infinity') end,
  paused_at = case when $2::boolean then belfry.now() end, paused_by = $4, pause_reason = $5, updated_at = belfry.now()
where id = $1 and removed_at is null
  and (paused_until, pause_reason) is distinct from (case when $2::boolean then coalesce(belfry.at($3::float8), 'infinity') end, $5::text)
returning id`);
