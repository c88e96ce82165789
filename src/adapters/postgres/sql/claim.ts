import { keptForAnySize, keptStatement } from "../statement.ts";
import { drawnFrom, drawnOnce, events, history, leaseEnd } from "./record.ts";
import { freeSlots } from "./slot.ts";

export interface ClaimedRow {
  readonly id: string;
  readonly state: "RUNNING" | "PENDING" | "SKIPPED" | "CANCELED";
  readonly reason: string | null;
  readonly kind: string;
  readonly key: string | null;
  readonly payload: unknown;
  readonly generation: number;
  readonly attempt: number;
  readonly failures: number;
  readonly interruptions: number;
  readonly max_attempts: number;
  readonly lease_ms: number;
  readonly trace: string;
  readonly slot_keys: string[] | null;
  readonly due_at: number;
  readonly schedule_id: string | null;
  readonly scheduled_for: number | null;
  readonly lateness_ms: number;
  readonly catch_up: boolean;
  readonly missed: number;
  readonly run_id: string | null;
}

/**
 * All claimed rows in one: their columns as comma-joined lists and JSON arrays, in the order of the ids. A row for each would cost
 * the client half as much as the claim. What is the same for all plain rows is left out.
 */
export interface PlainClaims extends Readonly<Record<PlainNumbers, string>> {
  readonly ids: string | null;
  readonly kinds: readonly string[];
  readonly keys: readonly (string | null)[];
  readonly payloads: readonly unknown[];
  readonly traces: readonly string[];
}
type PlainNumbers =
  "generations" | "attempts" | "failures" | "interruptions" | "max_attempts" | "leases_ms" | "due_at" | "lateness_ms";

/** One lease for each lane and lease length among the jobs that this worker starts: `starts` of id, lane, lease_ms. */
const leased = `leased as (
  insert into belfry.lease (worker, lane, ms, until, solo, job_ids)
  select $3, lane, lease_ms, ${leaseEnd("lease_ms")}, $4::boolean, array_agg(id) from starts group by lane, lease_ms
  returning id, lane, ms
)`;

/**
 * Due QUEUED rows without slots, schedule, run or expiry -> RUNNING under a lease. $1 ids, ascending, $2 generations $3 worker
 * $4 solo.
 * Locks: jobs in id order, and it waits (2 s at most): SKIP LOCKED would leave a message unclaimed for as long as a transaction
 * that changes nothing (a select for update, a backup) holds its row.
 * Generations are found by their place in $1, not by a join: a planner that expects one row compares each row with every other.
 * The time is a column of `mine`: each call of `belfry.now()` in the text is inlined, and costs as much as a row.
 */
export const claimPlain = keptForAnySize<PlainClaims>(
  "claim",
  `
with mine as materialized (
  select j.id, j.lane, j.lease_ms, belfry.now() as now from belfry.job j
  where j.id = any($1::bigint[]) and j.state = 'QUEUED' and (not j.solo_required or $4::boolean)
    and num_nulls(j.slot_keys, j.schedule_id, j.run_id, j.expires_at) = 4
    and j.generation = ($2::int[])[width_bucket(j.id, $1::bigint[])] and j.due_at <= belfry.now()
  order by j.id
  for no key update of j
), ${drawnOnce}, starts as (
  select id, lane, lease_ms from mine
), ${leased}, moved as (
  update belfry.job j set state = 'RUNNING', event_id = d.id, attempt = j.attempt + 1, worker = $3, lease_id = l.id,
    started_at = m.now, progress = null
  from mine m cross join drawn d join leased l on l.lane = m.lane and l.ms = m.lease_ms
  where j.id = m.id
  returning j.event_id, j.id, j.kind, j.key, j.payload, j.generation, j.attempt, j.failures, j.interruptions, j.max_attempts,
    j.lease_ms, j.trace, j.due_at, m.now
), moves as (
  select event_id, id, 'QUEUED'::belfry.job_state as from_state, 'RUNNING'::belfry.job_state as to_state, attempt, generation,
    $3 as worker, null::text as reason, null::text as caller, null::text as error_code, null::timestamptz as started_at
  from moved
), ${events}
select string_agg(id::text, ',') as ids, json_agg(kind) as kinds, json_agg(key) as keys, json_agg(payload) as payloads,
  string_agg(generation::text, ',') as generations, string_agg(attempt::text, ',') as attempts,
  string_agg(failures::text, ',') as failures, string_agg(interruptions::text, ',') as interruptions,
  string_agg(max_attempts::text, ',') as max_attempts, string_agg(lease_ms::text, ',') as leases_ms, json_agg(trace) as traces,
  string_agg(floor(extract(epoch from due_at) * 1000)::text, ',') as due_at,
  string_agg(greatest(0, floor(extract(epoch from now - due_at) * 1000))::text, ',') as lateness_ms
from (select * from moved order by id) moved`,
);

/** Which of the rows that `claim` left out are for `claim-full`, and how many slots each needs. Locks nothing. */
export const findFull = keptStatement<{ id: string; slots: number }>(
  "claim-find-full",
  `
select id, coalesce(cardinality(slot_keys), 0) as slots from belfry.job
where id = any($1::bigint[]) and state = 'QUEUED' and num_nulls(slot_keys, schedule_id, run_id, expires_at) < 4
  and due_at <= belfry.now() and (not solo_required or $2::boolean)
  and (not has_condition or id = any($3::bigint[]))
order by id`,
);

/**
 * As `claim`, for rows with slots, a schedule, a run or an expiry: also decides the end of the run, pause, expiry and slots;
 * the occurrence follows. A job of a removed schedule is SKIPPED while its occurrence is PLANNED: one that a person retries runs.
 * A prematerialized job is paused with its schedule until its run is released. Rows with two or more
 * slot keys come one at a time, so that "all or nothing" is exact.
 *
 * Locks: jobs in id order (waiting), then free slots with SKIP LOCKED, then occurrences. A slot is free when no job holds
 * it, or when the handler of its canceled job must have ended. Slot 0 of a queue-one group is the single waiting seat: the
 * first refused job takes it and is held, further ones are SKIPPED. It is freed when its holder runs or ends.
 */
export const claimFull = keptStatement<ClaimedRow>(
  "claim-full",
  `
with mine as materialized (
  select j.id, j.lane, j.lease_ms, j.attempt, j.slot_keys, j.schedule_id, j.run_id, j.expires_at, j.generation, j.due_at, j.catch_up
  from belfry.job j
  where j.id = any($1::bigint[]) and j.state = 'QUEUED' and j.generation = ($2::int[])[width_bucket(j.id, $1::bigint[])]
    and num_nulls(j.slot_keys, j.schedule_id, j.run_id, j.expires_at) < 4
    and j.due_at <= belfry.now() and (not j.solo_required or $4::boolean) and (not j.has_condition or j.id = any($5::bigint[]))
  order by j.id
  for no key update of j
), judged as materialized (
  select m.id, m.lane, m.lease_ms, m.attempt, m.slot_keys, m.generation, m.due_at, m.catch_up,
    case when r.state <> 'RUNNING' then 'run canceled'
      when r.stopped then 'run stopped'
      when m.expires_at <= belfry.now() then 'expired'
      when m.attempt = 0 and s.paused_until > belfry.now() then 'paused'
      when m.attempt = 0 and not s.enabled then 'disabled'
      when m.attempt = 0 and s.canceled_below is not null and exists (
        select from belfry.occurrence o where o.job_id = m.id and o.outcome = 'PLANNED' and o.schedule_version < s.canceled_below
      ) then 'deleted' end as skip,
    case when r.state <> 'RUNNING' then r.canceled_by end as caller
  from mine m left join belfry.run r on r.id = m.run_id
  left join belfry.schedule s on s.id = coalesce(m.schedule_id, r.prematerialized_by)
), reserved as materialized (
  select s.key, s.n, s.job_id as id from belfry.slot s
  where s.job_id = any(array(select id from mine)) and s.kept_for = ($2::int[])[width_bucket(s.job_id, $1::bigint[])]
), wanted as materialized (
  select j.id, j.due_at, k.key, k.place, g.size, g.reason, r.n as kept_n,
    case when j.catch_up then 'hold' else g.on_refusal end as on_refusal
  from judged j cross join lateral unnest(j.slot_keys) with ordinality as k (key, place)
  left join belfry.slot_group g on g.key = k.key
  left join reserved r on r.id = j.id and r.key = k.key
  where j.skip is null
), first_held as materialized (
  select w.key, h.due_at, h.id from (select distinct key from wanted where kept_n is null) w
  cross join lateral (
    select due_at, id from belfry.job
    where held_on = w.key and dispatched_at is null and finished_at is null and not blocked
    order by due_at, id limit 1
  ) h
), contending as materialized (
  select w.id, w.key, w.size, row_number() over (partition by w.key order by w.due_at, w.id) as turn
  from wanted w left join first_held h on h.key = w.key
  where w.kept_n is null and (h.id is null or w.on_refusal = 'skip' or (w.due_at, w.id) < (h.due_at, h.id))
), free as materialized (
  ${freeSlots("select key, size, count(*) as rows from contending where size is not null group by key, size")}
), got as materialized (
  select c.id, f.key, f.n from contending c join free f on f.key = c.key and f.turn = c.turn
  union all
  select id, key, kept_n from wanted where kept_n is not null
), refused as materialized (
  select w.* from wanted w where not exists (select from got where got.id = w.id and got.key = w.key)
), seat as materialized (
  select s.key, (
    select r.id from refused r where r.key = s.key and r.on_refusal = 'queue-one'
    order by coalesce(r.id = s.job_id, false) desc, r.due_at, r.id limit 1
  ) as taker
  from (select distinct key from refused where on_refusal = 'queue-one') w
  cross join lateral (
    select key, job_id from belfry.slot
    where slot.key = w.key and n = 0 and (job_id is null or job_id = any(array(select id from mine)))
    for no key update skip locked
  ) s
), decisions as materialized (
  select j.id, j.lane, j.lease_ms, j.attempt, j.caller, coalesce(j.skip, b.skip) as skip, b.held_on,
    case when j.skip = 'run canceled' then 'CANCELED' when j.skip is not null or b.skip is not null then 'SKIPPED'
      when b.held_on is not null then 'PENDING' else 'RUNNING' end::belfry.job_state as state
  from judged j left join (
    select r.id, (array_agg(r.key order by r.place))[1] as held_on,
      min(r.reason) filter (where r.on_refusal = 'skip'
        or (r.on_refusal = 'queue-one' and s.taker is distinct from r.id)) as skip
    from refused r left join seat s on s.key = r.key group by r.id
  ) b on b.id = j.id
), verdict as materialized (
  select *, dense_rank() over (order by state, skip) as kind from decisions
), place as materialized (
  select got.key, got.n, got.id as job_id, v.attempt + 1 as attempt
  from got join verdict v on v.id = got.id where v.state = 'RUNNING'
  union all
  select r.key, r.n, null, null from reserved r join verdict v on v.id = r.id where v.state <> 'RUNNING'
  union all
  select seat.key, 0, seat.taker, null from seat join verdict v on v.id = seat.taker where v.state = 'PENDING'
  union all
  select s.key, 0, null, null from belfry.slot s
  where s.n = 0 and s.job_id = any(array(select id from verdict where state <> 'PENDING'))
    and not exists (select from seat join verdict v on v.id = seat.taker where seat.key = s.key and v.state = 'PENDING')
), placed as (
  update belfry.slot s set job_id = p.job_id, attempt = p.attempt, kept_for = null, free_from = null
  from place p where s.key = p.key and s.n = p.n
), ${drawnFrom("verdict")}, starts as (
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
  returning j.*, v.caller, case v.state when 'PENDING' then 'slot' when 'RUNNING' then null else v.skip end as reason
), decided as (
  update belfry.occurrence o set
    outcome = case when m.state = 'SKIPPED' then 'SKIPPED' when o.catch_up then 'CAUGHT_UP' else 'FIRED'
      end::belfry.occurrence_outcome,
    reason = m.reason, decided_at = belfry.now(), lateness_ms = belfry.ms_since(o.nominal_at)
  from moved m
  where o.job_id = m.id and m.state not in ('PENDING', 'CANCELED')
    and (o.outcome = 'PLANNED' or (o.outcome = 'SKIPPED' and m.state = 'RUNNING'))
), moves as (
  select event_id, id, 'QUEUED'::belfry.job_state as from_state, state as to_state, attempt, generation,
    case when state = 'RUNNING' then worker end as worker, reason, caller, null::text as error_code,
    null::text as error_message, null::timestamptz as started_at
  from moved
), ${events}, ${history}
select id, state, reason, kind, key, payload, generation, attempt, failures, interruptions, max_attempts, lease_ms,
  trace, slot_keys, belfry.ms(due_at) as due_at, schedule_id, belfry.ms(scheduled_for) as scheduled_for,
  belfry.ms_since(coalesce(scheduled_for, due_at)) as lateness_ms, catch_up, missed, run_id
from moved
order by id`,
);

/** The present state of these rows. Locks nothing. */
export const lookAt = keptStatement<{
  id: string;
  state: string;
  generation: number;
  attempt: number;
  worker: string | null;
  age_ms: number;
  due_in_ms: number;
  solo_required: boolean;
  has_condition: boolean;
}>(
  "look",
  `
select id, state, generation, attempt, worker, belfry.ms_since(created_at) as age_ms,
  ceil(extract(epoch from due_at - belfry.now()) * 1000)::float8 as due_in_ms, solo_required, has_condition
from belfry.job where id = any($1::bigint[])`,
);
