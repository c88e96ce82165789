import { conditionPassed } from "../../admission/condition.ts";
import { isInOpenRun } from "../../admission/run-end.ts";
import { cancelCaller, cancelVerdicts, stateVerdict } from "../../admission/gates.ts";
import { allotSlots, slotRefusals, takeSlots } from "../../admission/slots.ts";
import { reasons } from "../../machine/reasons.ts";
import type { Claimed, JobPeek } from "../../machine/store.ts";
import { keptForAnySize, keptStatement } from "../statement.ts";
import { drawnFrom, events, history, leaseEnd } from "./record.ts";

export type ClaimedRow = Omit<Claimed, "run" | "replaces"> & {
  readonly runId: string | null;
  readonly replaces?: boolean;
};

/** Of the job `j`, all of that row but its reason. */
export const claimedColumns = `j.id as "jobId", j.state, j.kind, j.key, j.payload, j.generation, j.attempt, j.failures, j.interruptions,
  j.max_attempts as "maxAttempts", j.lease_ms as "leaseMs", j.trace, coalesce(j.slot_keys, '{}') as "slotKeys", belfry.ms(j.due_at) as "dueAt",
  j.schedule_id as "scheduleId", belfry.ms(j.scheduled_for) as "scheduledFor", belfry.ms(j.effective_at) as "effectiveAt",
  belfry.ms_since(coalesce(j.effective_at, j.scheduled_for, j.due_at)) as "latenessMs", j.catch_up as "isCatchUp", j.missed as "missedCount", j.run_id as "runId"`;

/** All claimed rows in one, in the order of the ids: a row for each would cost the client half as much as the claim. */
export interface PlainClaims {
  /** Of each: id, generation, attempt, failures, interruptions, attempts at most, lease and due time in ms, its run. Null: nothing was claimed. */
  readonly numbers: string | null;
  readonly kinds: readonly string[];
  readonly keys: readonly (string | null)[];
  readonly payloads: readonly unknown[];
  readonly traces: readonly string[];
  readonly now: number;
}

/** One lease for each lane and lease length among the jobs that this worker starts: `starts` of id, lane, lease_ms. */
const leased = `leased as (
  insert into belfry.lease (worker, lane, ms, until, solo, job_ids)
  select $3, lane, lease_ms, ${leaseEnd("lease_ms")}, $4::boolean, array_agg(id) from starts group by lane, lease_ms
  returning id, lane, ms
)`;

/**
 * Due QUEUED rows without slots, schedule or expiry -> RUNNING under a lease, of a run that is open. $1 ids, ascending, $2 generations
 * $3 worker $4 solo $5 whose condition has passed. In one pass, without a lock before: the event may be drawn first, since what made a row QUEUED under this generation had
 * committed before its message was sent. `units`: a lease id for each lane and lease length, which no statement changes;
 * it is read only once a row is of another than the first.
 * Locks: jobs in id order, as the index scan brings them (see `keptPlanSettings`), and it waits (2 s at most): SKIP LOCKED would leave a
 * message unclaimed for as long as a transaction that changes nothing (a select for update, a backup) holds its row.
 * What is drawn stands in a CTE: the update evaluates its own expressions once more for a row that it waited for.
 */
export const claimPlain = keptForAnySize<PlainClaims>("claim")(`
with units as materialized (
  select array_agg(name) as names, array_agg(nextval('belfry.lease_id_seq')) as leases
  from (select distinct lane || ' ' || lease_ms as name from belfry.job where id = any($1::bigint[])) u
), drawn as materialized (
  select belfry.next_event() as event, nextval('belfry.lease_id_seq') as lease
), moved as (
  update belfry.job j set state = 'RUNNING', event_id = (select event from drawn), attempt = j.attempt + 1, worker = $3,
    lease_id = case when (j.lane, j.lease_ms) = (select lane, lease_ms from belfry.job where id = ($1::bigint[])[1])
      then (select lease from drawn)
      else (select leases from units)[array_position((select names from units), j.lane || ' ' || j.lease_ms)] end,
    started_at = belfry.now(), progress = null
  where j.id = any($1::bigint[]) and j.state = 'QUEUED' and (not j.solo_required or $4::boolean)
    and num_nulls(j.slot_keys, j.schedule_id, j.expires_at) = 3
    and j.generation = ($2::int[])[width_bucket(j.id, $1::bigint[])] and j.due_at <= belfry.now() and ${conditionPassed("$5")}
    and ${isInOpenRun}
  returning j.event_id, j.id, j.kind, j.key, j.payload, j.generation, j.attempt, j.failures, j.interruptions, j.max_attempts,
    j.lane, j.lease_ms, j.lease_id, j.trace, j.due_at, j.run_id
), leased as (
  insert into belfry.lease (id, worker, lane, ms, until, solo, job_ids) overriding system value
  select lease_id, $3, lane, lease_ms, ${leaseEnd("lease_ms")}, $4::boolean, array_agg(id)
  from moved group by lease_id, lane, lease_ms
), recorded as (
  insert into belfry.event (id, at, from_state, to_state, worker, job_ids, attempts, generations)
  select min(event_id), belfry.now(), 'QUEUED', 'RUNNING', $3, array_agg(id), array_agg(attempt), array_agg(generation)
  from moved having count(*) > 0
)
select string_agg(concat_ws(' ', id, generation, attempt, failures, interruptions, max_attempts, lease_ms,
    (date_part('epoch', due_at) * 1e6)::bigint / 1000, run_id), ',') as numbers,
  json_agg(kind) as kinds, json_agg(key) as keys, json_agg(payload) as payloads, json_agg(trace) as traces,
  belfry.ms(belfry.now()) as now
from moved`);

/**
 * Makes the slots that these QUEUED jobs need under a cap by key and that no job needed before. @returns the jobs that lacked one.
 * Locks: new rows, in the order of their keys; it waits for another process that makes or forgets the same.
 */
export const makeSlots = keptStatement<{ id: string }>("slots-make")(`
with lacking as materialized (
  select j.id, k.key, g.size from belfry.job j cross join lateral unnest(j.slot_keys) as k (key)
  join belfry.slot_group g on g.key = belfry.rule_of(k.key) and g.key <> k.key
  where j.id = any($1::bigint[]) and j.state = 'QUEUED'
    and not exists (select from belfry.slot s where s.key = k.key and s.n = g.size)
), made as (
  insert into belfry.slot (key, n, made_at)
  select l.key, n, case n when 1 then belfry.now() end
  from (select distinct key, size from lacking) l cross join lateral generate_series(1, l.size) as n
  order by l.key, n
  on conflict (key, n) do nothing
)
select distinct id from lacking`);

/**
 * As `claim`, for rows with slots, a schedule or an expiry, and for those of runs that it left: also decides by the gates of `src/admission`; the occurrence
 * follows. A prematerialized job is paused with its schedule until its run is released. Where a slot is not made yet nothing is
 * decided: the rows stay QUEUED for `slots-make` and a second claim.
 *
 * Locks: jobs in id order (waiting), then free slots with SKIP LOCKED, then occurrences.
 */
export const claimFull = keptStatement<ClaimedRow>("claim-full")(`
with recursive mine as materialized (
  select j.id, j.lane, j.lease_ms, j.attempt, j.slot_keys, j.schedule_id, j.run_id, j.expires_at, j.generation, j.due_at, j.catch_up
  from belfry.job j
  where j.id = any($1::bigint[]) and j.state = 'QUEUED' and j.generation = ($2::int[])[width_bucket(j.id, $1::bigint[])]
    and num_nulls(j.slot_keys, j.schedule_id, j.run_id, j.expires_at) < 4
    and j.due_at <= belfry.now() and (not j.solo_required or $4::boolean) and ${conditionPassed("$5")}
  order by j.id
  for no key update of j
), judged as materialized (
  select m.id, m.lane, m.lease_ms, m.attempt, m.slot_keys, m.generation, m.due_at, m.catch_up,
    ${stateVerdict} as skip, ${cancelCaller} as caller
  from mine m left join belfry.run r on r.id = m.run_id
  left join belfry.schedule s on s.id = coalesce(m.schedule_id, r.prematerialized_by)
), ${allotSlots("$1", "$2")}, decisions as materialized (
  select j.id, j.lane, j.lease_ms, j.attempt, j.caller, coalesce(j.skip, b.skip) as skip, b.held_on,
    case when j.skip in (${cancelVerdicts}) then 'CANCELED' when j.skip is not null or b.skip is not null then 'SKIPPED'
      when b.held_on is not null then 'PENDING' else 'RUNNING' end::belfry.job_state as state
  from judged j left join (
    ${slotRefusals}
  ) b on b.id = j.id
  where not (select is_any from unmade)
), verdict as materialized (
  select *, dense_rank() over (order by state, skip) as kind from decisions
), ${takeSlots}, ${drawnFrom("verdict")}, starts as (
  select id, lane, lease_ms from verdict where state = 'RUNNING'
), ${leased}, moved as (
  update belfry.job j set state = v.state, event_id = d.ids[v.kind],
    hold = case when v.state = 'PENDING' then 'slot' else 'none' end::belfry.job_hold,
    held_on = case when v.state = 'PENDING' then v.held_on else '' end,
    generation = j.generation + (v.state = 'PENDING')::int,
    attempt = j.attempt + (v.state = 'RUNNING')::int,
    worker = case when v.state = 'RUNNING' then $3 else j.worker end,
    lease_id = l.id,
    started_at = case when v.state = 'RUNNING' then belfry.now() else j.started_at end,
    dispatched_at = case when v.state <> 'PENDING' then j.dispatched_at end,
    finished_at = case when v.state >= 'SUCCESS' then belfry.now() end,
    progress = null
  from verdict v cross join drawn d left join leased l on v.state = 'RUNNING' and l.lane = v.lane and l.ms = v.lease_ms
  where j.id = v.id
  returning j.*, v.caller, case v.state when 'PENDING' then '${reasons.slot}' when 'RUNNING' then null else v.skip end as reason
), decided as (
  update belfry.occurrence o set
    outcome = case when m.state = 'SKIPPED' then 'SKIPPED' when o.catch_up then 'CAUGHT_UP' else 'FIRED'
      end::belfry.occurrence_outcome,
    reason = m.reason, decided_at = belfry.now(), lateness_ms = belfry.ms_since(coalesce(o.effective_at, o.nominal_at))
  from moved m
  where o.job_id = m.id and m.state not in ('PENDING', 'CANCELED')
    and (o.outcome = 'PLANNED' or (o.outcome = 'SKIPPED' and m.state = 'RUNNING'))
), moves as (
  select event_id, id, 'QUEUED'::belfry.job_state as from_state, state as to_state, attempt, generation,
    case when state = 'RUNNING' then worker end as worker, reason, caller, null::text as error_code,
    null::text as error_message, null::timestamptz as started_at
  from moved
), ${events}, ${history}
select j.reason, ${claimedColumns},
  exists (select from wanted w where w.id = j.id and w.reason = '${reasons.replaced}') as replaces
from moved j
order by j.id`);

/** The present state of these rows. Locks nothing. */
export const lookAt = keptStatement<JobPeek>("look")(`
select id as "jobId", state, generation, attempt, worker, belfry.ms_since(created_at) as "ageMs",
  ceil(extract(epoch from due_at - belfry.now()) * 1000)::float8 as "dueInMs", solo_required as alone, has_condition as "hasCondition"
from belfry.job where id = any($1::bigint[])`);
