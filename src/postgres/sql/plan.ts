import { keptForAnySize } from "../statement.ts";
import type { DispatchedRow } from "./dispatch.ts";
import { firstMoves } from "./insert.ts";

export interface PlannedRow extends Omit<DispatchedRow, "id"> {
  readonly occurrences: number;
  /** Schedules that were not planned. */
  readonly passed: string[];
  readonly id: string | null;
}

/**
 * Occurrences and their jobs for the schedules that still have the version they were planned from. The jobs have no key:
 * their occurrence row makes them unique. $1-$6 schedules, $7-$29 occurrences with their job, $30 dispatch window.
 * Locks: schedules in id order, SKIP LOCKED, so that one that an edit, a deployment or another tick holds is passed by and
 * stays due; two of them cannot interleave, because who has the row compares the version and what is decided. Then only new rows,
 * occurrences in key order. A row whose nominal time exists already is left out, and its job with it.
 */
export const planOccurrences = keptForAnySize<PlannedRow>("plan")(`
with plans as materialized (
  select * from unnest($1::text[], $2::int[], $3::float8[], $4::float8[], $5::float8[], $6::jsonb[])
    as p (id, version, decided_from, decided_until, next_at, carry)
), locked as materialized (
  select s.id, s.version, s.decided_until from belfry.schedule s join plans p on p.id = s.id
  where s.version = p.version
    and (p.decided_from is null or belfry.ms(s.decided_until) <= p.decided_from)
  order by s.id
  for no key update of s skip locked
), given as materialized (
  select v.*, coalesce(v.by_version, s.version) as version, case when v.kind is not null then nextval('belfry.job_id_seq') end as job_id,
    t.due_at, t.due_at <= belfry.now() + belfry.span($30::float8) as is_due
  from unnest($7::text[], $8::text[], $9::int[], $10::text[], $11::float8[], $12::text[], $13::text[], $14::text[], $15::boolean[], $16::int[],
    $17::int[], $18::float8[], $19::float8[], $20::float8[], $21::float8[], $22::text[], $23::text[], $24::text[], $25::int[], $26::int[],
    $27::bigint[], $28::text[], $29::text[])
    as v (schedule_id, local_time, fold, timezone, nominal, outcome, reason, calendar, catch_up, missed, by_version, effective, due, delay, expires,
      kind, payload, lane, lease_ms, max_attempts, retention_ms, trace, slots)
  join locked s on s.id = v.schedule_id
  cross join lateral (select coalesce(belfry.at(v.due), belfry.now()) + belfry.span(v.delay) as due_at) t
), won as (
  insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, reason, calendar, schedule_version, job_id,
    effective_at, catch_up, planned_at, decided_at)
  select schedule_id, local_time, fold, timezone, belfry.at(nominal), outcome::belfry.occurrence_outcome, reason, calendar, version,
    job_id, belfry.at(effective), catch_up, belfry.now(), case when outcome <> 'PLANNED' then belfry.now() end
  from given
  order by schedule_id, local_time, fold, timezone
  on conflict do nothing
  returning schedule_id, job_id
), drawn as materialized (
  select belfry.next_event() as pending, belfry.next_event() as queued
), inserted as (
  insert into belfry.job (id, kind, payload, lane, state, event_id, due_at, expires_at, generation, dispatched_at, lease_ms,
    max_attempts, retention_ms, slot_keys, schedule_id, scheduled_for, effective_at, catch_up, missed, trace, created_at)
  overriding system value
  select g.job_id, g.kind, g.payload::jsonb, g.lane, case when g.is_due then 'QUEUED' else 'PENDING' end::belfry.job_state,
    case when g.is_due then d.queued else d.pending end, g.due_at, belfry.at(g.expires), g.is_due::int,
    case when g.is_due then belfry.now() end, g.lease_ms, g.max_attempts, g.retention_ms, g.slots::text[],
    g.schedule_id, belfry.at(g.nominal), belfry.at(g.effective), g.catch_up, g.missed, g.trace, belfry.now()
  from given g join won w on w.job_id = g.job_id cross join drawn d
  order by g.job_id
  returning event_id, id, lane, state, generation, due_at, trace
), ${firstMoves}, advanced as (
  update belfry.schedule s set decided_until = belfry.at(p.decided_until), next_at = belfry.at(p.next_at), carry = p.carry
  from locked l join plans p on p.id = l.id
  where s.id = l.id and belfry.ms(l.decided_until) <= p.decided_until
)
select n.occurrences, array(select id from plans where id not in (select id from locked)) as passed, m.id, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, o.id as batch
from (select count(*)::int as occurrences from won) n
left join (inserted m join posted o on o.lane = m.lane and m.state = 'QUEUED') on true
order by m.id`);
