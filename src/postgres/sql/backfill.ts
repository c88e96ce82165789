import { statement } from "../statement.ts";
import { againMoves, endedKindOf, runAgain } from "./put-back.ts";
import { events, history } from "./record.ts";

/**
 * Plans times of the past. $1 schedule (its row is locked before), $2-$16 times with their job, $17 slot key, $18 pace.
 * Locks: the jobs that are used again in id order, then occurrences; a claim uses the same order. A time that ran, runs or
 * waits is not changed, nor a second reading of an instant that has a row. Due times follow those that an earlier backfill
 * left waiting under the same slot.
 */
export const backfillTimes = statement<{ added: number; again: number }>("backfill")(`
with given as materialized (
  select v.* from unnest($2::text[], $3::int[], $4::text[], $5::float8[], $6::text[], $7::int[], $8::int[], $9::text[],
    $10::text[], $11::text[], $12::int[], $13::int[], $14::bigint[], $15::text[], $16::text[]) with ordinality
    as v (local_time, fold, timezone, nominal, calendar, version, missed, kind, payload, lane, lease_ms, max_attempts, retention_ms, trace,
      slots, ord)
), known as materialized (
  select g.ord, o.outcome, o.job_id, j.id as kept
  from given g
  join belfry.occurrence o on o.schedule_id = $1 and o.local_time = g.local_time and o.fold = g.fold
    and o.timezone = g.timezone
  left join belfry.job j on j.id = o.job_id
), ended as materialized (
  select id, state from belfry.job
  where id = any(array(select kept from known where kept is not null and outcome = 'SKIPPED'))
    and state in ('FAILED', 'CANCELED', 'SKIPPED') and attempt = 0
  order by id
  for no key update
), wanted as materialized (
  select g.*, k.ord is not null as is_known, e.id as ended_id, e.state as was,
    case when e.id is null then nextval('belfry.job_id_seq') end as new_id
  from given g left join known k on k.ord = g.ord left join ended e on e.id = k.kept
  where k.ord is null
    or (k.outcome in ('SKIPPED', 'COALESCED') and (k.kept is null or e.id is not null) and not exists (
      select from belfry.occurrence t
      where t.schedule_id = $1 and t.nominal_at = belfry.at(g.nominal) and t.outcome <> 'COALESCED'
        and (t.local_time, t.fold, t.timezone) <> (g.local_time, g.fold, g.timezone) and t.reason is distinct from 'dst-gap'
        and t.reason is distinct from 'excluded'))
), won as (
  insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, calendar, schedule_version, job_id,
    catch_up, planned_at)
  select $1, local_time, fold, timezone, belfry.at(nominal), 'PLANNED', calendar, version, new_id, true, belfry.now()
  from wanted where not is_known
  order by local_time, fold, timezone
  on conflict do nothing
  returning job_id
), reopened as (
  update belfry.occurrence o set outcome = 'PLANNED', reason = null, decided_at = null, lateness_ms = null, catch_up = true,
    calendar = w.calendar, schedule_version = w.version, job_id = coalesce(w.ended_id, w.new_id)
  from wanted w
  where w.is_known and o.schedule_id = $1 and o.local_time = w.local_time and o.fold = w.fold
    and o.timezone = w.timezone
  returning o.job_id
), start as materialized (
  select greatest(belfry.now(), max(j.due_at)) as at
  from belfry.occurrence o join belfry.job j on j.id = o.job_id
  where o.schedule_id = $1 and o.outcome = 'PLANNED' and j.finished_at is null and j.slot_keys @> array[$17::text]
), paced as materialized (
  select w.*, s.at + belfry.span($18::float8) * row_number() over (order by w.ord) as due_at
  from wanted w cross join start s
  where w.is_known or w.new_id in (select job_id from won)
), mine as materialized (
  select ended_id as id, was as state, false as blocked, true as catch_up, false as starts, due_at, 'backfill' as reason,
    slots::text[] as slot_keys, case when ended_id is null then 4 else ${endedKindOf("was")} end as kind
  from paced
), ${runAgain}, made as (
  insert into belfry.job (id, kind, payload, lane, state, event_id, due_at, lease_ms, max_attempts, retention_ms, slot_keys,
    schedule_id, scheduled_for, catch_up, missed, trace, created_at)
  overriding system value
  select new_id, kind, payload::jsonb, lane, 'PENDING', d.ids[4], due_at, lease_ms, max_attempts, retention_ms, slots::text[],
    $1, belfry.at(nominal), true, missed, trace, belfry.now()
  from paced cross join drawn d where new_id is not null
  order by new_id
  returning event_id, id, state, attempt, generation, lane
), moves as (
  ${againMoves()}
  union all
  select event_id, id, null, state, attempt, generation, lane, null, 'backfill', null, null, null, null from made
), ${events}, ${history}
select (select count(*) from won)::int as added, (select count(*) from reopened)::int as again`);
