import { insightLimits } from "../../insight/insight-limits.ts";
import { hourBuckets } from "../../insight/kind-figures.ts";
import { durationBuckets } from "../../insight/kind-totals.ts";
import { contractLimits } from "../../machine/contract-limits.ts";
import { keptStatement, statement } from "../statement.ts";

/** The first time: nothing that happened before is added up. Locks the new row only. */
export const createRollUp = statement<never>("roll-up-create")(`
insert into belfry.reader (name, upto) values ('roll-up', pg_snapshot_xmin(pg_current_snapshot())::text)
on conflict (name) do nothing`);

/** Whether a round would add nothing, so that an idle system opens no transaction for it. Locks nothing. */
export const isRollUpIdle = keptStatement<{ idle: boolean }>("roll-up-idle")(`
select exists (
  select from belfry.reader r where r.name = 'roll-up'
    and not exists (
      select from belfry.event e where e.xid >= r.upto::xid8 and e.xid < pg_snapshot_xmin(pg_current_snapshot())
    )
    and not exists (select from belfry.batch_count)
) as idle`);

/** Locks the roll-up's own row, SKIP LOCKED: one process at a time adds up, the others have nothing to do. */
export const lockRollUp = statement<{ upto: string; xmin: string }>("roll-up-lock")(`
select upto, pg_snapshot_xmin(pg_current_snapshot())::text as xmin from belfry.reader where name = 'roll-up'
for no key update skip locked`);

/**
 * The end of the next page: of the transactions from $1 to $2 the first behind which $3 moves lie. Every transaction below the
 * oldest one still open has ended, so the events of such a range are all there and never change: each is added up exactly
 * once. Events below $4 are of an earlier epoch. Locks nothing.
 */
export const findRollUpEnd = statement<{ upto: string }>("roll-up-end")(`
select coalesce((
  select greatest(xid::text::numeric, $1::numeric + 1)::text from (
    select e.xid, sum(cardinality(e.job_ids)) over (order by e.xid, e.id) - cardinality(e.job_ids) as before
    from (
      select xid, id, job_ids from belfry.event where xid >= $1::text::xid8 and xid < $2::text::xid8 and id >= $4::bigint
      order by xid, id limit $3 + 1
    ) e
  ) summed
  where before >= $3 order by xid limit 1
), $2) as upto`);

/**
 * Adds up the events of the transactions from $1 up to $2. $3 upper bounds of the durations in seconds; seconds after which an
 * attempt is $4 slow and a start $5 late; $6 upper bounds of the histograms by hour; events below $7 are of an earlier epoch; $8 rows
 * of `usage` a day that have a schedule or a key, behind which one row of each kind and lane takes the others. A start is late by its
 * job's due time, so one whose job waits for a retry already is left out. Locks: rows of `minute`, `hour`, `usage`, `kind_total` and
 * `worker` in key order; only the holder of the roll-up's row writes them.
 */
export const addUp = statement<{ events: number }>("roll-up")(`
with moves as materialized (
  select m.job_id, e.at, e.from_state, e.to_state, e.worker, e.reason, j.kind, j.lane,
    coalesce(j.schedule_id, r.schedule_id) as schedule_id, j.turn, j.slot_keys, cardinality(e.job_ids) as together,
    case when e.from_state = 'RUNNING' then e.worker end as by, end_of.outcome,
    case when e.from_state = 'RUNNING' then greatest(0, extract(epoch from e.at - m.started_at))::float8 end as seconds,
    end_of.outcome in ('FAILED', 'LOST') as is_failed, end_of.outcome in ('SUCCESS', 'FAILED', 'LOST') as is_end,
    end_of.outcome = 'LOST' as is_lost,
    case when e.to_state = 'RUNNING' and j.attempt = m.attempt and j.due_at <= e.at
      then extract(epoch from e.at - j.due_at)::float8 end as late,
    e.to_state = 'RUNNING' and exists (select from unnest(j.slot_keys) s where starts_with(s, 'lock:')) as is_locked
  from belfry.event e cross join lateral unnest(e.job_ids, e.attempts, e.started_at) as m (job_id, attempt, started_at)
  cross join lateral (
    select case when e.from_state = 'RUNNING' then belfry.attempt_outcome(e.to_state, e.reason, e.error_code) end as outcome
  ) end_of
  left join belfry.job j on j.id = m.job_id left join belfry.run r on r.id = j.run_id
  where e.xid >= $1::text::xid8 and e.xid < $2::text::xid8 and e.id >= $7::bigint
), by_minute as (
  insert into belfry.minute as m (at, kind, lane, created, started, succeeded, failed, retried, canceled, skipped, lost, run_ms,
    slow, late, locked, lock_failed)
  select date_trunc('minute', at), coalesce(kind, '(pruned)'), coalesce(lane, '(pruned)'),
    count(*) filter (where from_state is null), count(*) filter (where to_state = 'RUNNING'),
    count(*) filter (where to_state = 'SUCCESS'), count(*) filter (where to_state = 'FAILED'),
    count(*) filter (where from_state = 'RUNNING' and to_state = 'RETRY_WAIT'), count(*) filter (where to_state = 'CANCELED'),
    count(*) filter (where to_state = 'SKIPPED'), count(*) filter (where is_lost), coalesce(sum(seconds) * 1000, 0)::bigint,
    count(*) filter (where seconds > $4::float8), count(*) filter (where late > $5::float8),
    count(*) filter (where is_locked), count(*) filter (where reason = 'lock-held')
  from moves group by 1, 2, 3 order by 1, 2, 3
  on conflict (at, kind, lane) do update set created = m.created + excluded.created, started = m.started + excluded.started,
    succeeded = m.succeeded + excluded.succeeded, failed = m.failed + excluded.failed, retried = m.retried + excluded.retried,
    canceled = m.canceled + excluded.canceled, skipped = m.skipped + excluded.skipped, lost = m.lost + excluded.lost,
    run_ms = m.run_ms + excluded.run_ms, slow = m.slow + excluded.slow, late = m.late + excluded.late,
    locked = m.locked + excluded.locked, lock_failed = m.lock_failed + excluded.lock_failed
), by_hour as (
  insert into belfry.hour as h (at, kind, lane, bucket, waited, ran, failed)
  select date_trunc('hour', at, 'UTC'), kind, lane, bucket, sum(waited), sum(ran), sum(failed)
  from (
    select at, kind, lane, width_bucket(late, $6::float8[]) as bucket, 1 as waited, 0 as ran, 0 as failed
    from moves where late is not null
    union all
    select at, kind, lane, width_bucket(seconds, $6::float8[]), 0, 1, is_failed::int from moves where is_end
  ) each
  where kind is not null
  group by 1, 2, 3, 4 order by 1, 2, 3, 4
  on conflict (at, kind, lane, bucket) do update set waited = h.waited + excluded.waited, ran = h.ran + excluded.ran,
    failed = h.failed + excluded.failed
), used as materialized (
  select day, kind, lane, schedule_id, case when num_nulls(turn, slot_keys) < 2 then belfry.usage_key(turn, slot_keys) else '' end as key,
    sum(attempts) as attempts, sum(calls) as calls, sum(run_ms) as run_ms, sum(minute_ms) as minute_ms
  from (
    select (at at time zone 'UTC')::date as day, coalesce(kind, '(pruned)') as kind, coalesce(lane, '(pruned)') as lane,
      coalesce(schedule_id, '') as schedule_id, turn, slot_keys, count(*) filter (where to_state = 'RUNNING') as attempts,
      coalesce(sum(1 / together::float8) filter (where to_state = 'RUNNING'), 0) as calls, coalesce(sum(seconds) * 1000, 0) as run_ms,
      coalesce(sum(greatest(seconds, 60)) filter (where seconds is not null) * 1000, 0) as minute_ms
    from moves where from_state = 'RUNNING' or to_state = 'RUNNING' group by 1, 2, 3, 4, 5, 6
  ) by_slots group by 1, 2, 3, 4, 5
), used_new as materialized (
  select day, kind, lane, schedule_id, key, row_number() over (partition by day order by kind, lane, schedule_id, key) as nth
  from used u where (schedule_id, key) <> ('', '') and not exists (
    select from belfry.usage o
    where (o.day, o.kind, o.lane, o.schedule_id, o.key) = (u.day, u.kind, u.lane, u.schedule_id, u.key)
  )
), used_days as materialized (
  select day, (select count(*) from (
    select from belfry.usage o where o.day = d.day and (o.schedule_id, o.key) <> ('', '') limit $8
  ) kept) as rows
  from (select distinct day from used_new) d
), used_others as materialized (
  select n.* from used_new n join used_days d on d.day = n.day and n.nth > $8 - d.rows
), by_usage as (
  insert into belfry.usage as u (day, kind, lane, schedule_id, key, attempts, calls, run_ms, minute_ms)
  select day, kind, lane, case when o.nth is null then schedule_id else '(others)' end,
    case when o.nth is null then key else '(others)' end, sum(attempts), sum(calls), round(sum(run_ms)), round(sum(minute_ms))
  from used left join used_others o using (day, kind, lane, schedule_id, key) group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
  on conflict (day, kind, lane, schedule_id, key) do update set attempts = u.attempts + excluded.attempts,
    calls = u.calls + excluded.calls, run_ms = u.run_ms + excluded.run_ms, minute_ms = u.minute_ms + excluded.minute_ms
), counted as (
  select kind, count(*) filter (where is_end) as attempts, array_agg(seconds) filter (where is_end) as took,
    array_agg(seconds) filter (where is_failed) as took_failed, array_agg(late) filter (where late is not null) as lates,
    count(*) filter (where from_state is null) as created, count(*) filter (where to_state = 'SUCCESS') as succeeded,
    count(*) filter (where to_state = 'FAILED') as failed,
    count(*) filter (where is_lost) as lost,
    count(*) filter (where outcome = 'RELEASED') as released, count(*) filter (where outcome = 'CANCELED') as attempts_canceled,
    count(*) filter (where to_state = 'CANCELED') as canceled, count(*) filter (where to_state = 'SKIPPED') as skipped,
    count(*) filter (where is_locked) as locked, count(*) filter (where reason = 'lock-held') as lock_failed
  from moves where kind is not null group by kind
), by_kind as (
  insert into belfry.kind_total as k (kind, attempts, seconds, buckets, failed_seconds, failed_buckets, late_seconds, late_buckets,
    created, succeeded, failed, lost, released, attempts_canceled, canceled, skipped, locks_acquired, locks_failed)
  select kind, attempts, (select coalesce(sum(s), 0) from unnest(took) s),
    belfry.counted_in(took, $3::float8[]), (select coalesce(sum(s), 0) from unnest(took_failed) s),
    belfry.counted_in(took_failed, $3::float8[]), (select coalesce(sum(s), 0) from unnest(lates) s),
    belfry.counted_in(lates, $3::float8[]),
    created, succeeded, failed, lost, released, attempts_canceled, canceled, skipped, locked, lock_failed
  from counted order by kind
  on conflict (kind) do update set attempts = k.attempts + excluded.attempts, seconds = k.seconds + excluded.seconds,
    buckets = belfry.added(k.buckets, excluded.buckets), failed_seconds = k.failed_seconds + excluded.failed_seconds,
    failed_buckets = belfry.added(k.failed_buckets, excluded.failed_buckets), late_seconds = k.late_seconds + excluded.late_seconds,
    late_buckets = belfry.added(k.late_buckets, excluded.late_buckets), created = k.created + excluded.created,
    succeeded = k.succeeded + excluded.succeeded, failed = k.failed + excluded.failed,
    lost = k.lost + excluded.lost, released = k.released + excluded.released,
    attempts_canceled = k.attempts_canceled + excluded.attempts_canceled, canceled = k.canceled + excluded.canceled,
    skipped = k.skipped + excluded.skipped, locks_acquired = k.locks_acquired + excluded.locks_acquired,
    locks_failed = k.locks_failed + excluded.locks_failed
), by_worker as (
  insert into belfry.worker as w (id, lane, started_at, seen_at, ended, failed, lost, lost_at)
  select id, min(lane), min(at), max(at), count(*) filter (where is_end),
    count(*) filter (where is_failed), count(*) filter (where is_lost),
    max(at) filter (where is_lost)
  from (
    select worker as id, lane, at, to_state, false as is_end, false as is_failed, false as is_lost from moves where to_state = 'RUNNING'
    union all
    select by, lane, at, to_state, is_end, is_failed, is_lost from moves where by is not null
  ) each where id is not null group by id order by id
  on conflict (id) do update set lane = coalesce(w.lane, excluded.lane), seen_at = greatest(w.seen_at, excluded.seen_at),
    ended = w.ended + excluded.ended, failed = w.failed + excluded.failed, lost = w.lost + excluded.lost,
    lost_at = coalesce(excluded.lost_at, w.lost_at)
), moved as (
  update belfry.reader set upto = $2, version = version + 1 where name = 'roll-up'
)
select count(*)::int as events from moves`);

/** Its values, for the events of the transactions from `from` up to `upto` whose ids begin at `first`. */
export function addUpOf({ from, upto, first }: { from: string; upto: string; first: string }): unknown[] {
  const { slowTryMs, lateStartMs } = insightLimits;
  return [
    from,
    upto,
    durationBuckets,
    slowTryMs / 1_000,
    lateStartMs / 1_000,
    hourBuckets,
    first,
    contractLimits.usageRowsADayMax,
  ];
}

/** What the batches of an attempt did; its own row, because the attempt may end in any way. Locks the new row only. */
export const writeBatchCount = statement<never>("batch-count-write")(`
insert into belfry.batch_count (kind, lane, at, processed, succeeded, failed)
values ($1, $2, belfry.now(), $3, $4, $5)`);

/**
 * Adds up $1 rows of batches at most, and deletes them: each is added up exactly once. $2 how many buckets a histogram has.
 * Locks: those rows, then `minute` and `kind_total` in key order; only the holder of the roll-up's row writes them.
 */
export const addUpBatches = statement<{ rows: number }>("roll-up-batches")(`
with gone as (
  delete from belfry.batch_count where ctid = any (array(select ctid from belfry.batch_count limit $1))
  returning kind, lane, date_trunc('minute', at) as at, processed, succeeded, failed
), by_minute as (
  insert into belfry.minute as m (at, kind, lane, items, items_failed)
  select at, kind, lane, sum(processed), sum(failed) from gone group by 1, 2, 3 order by 1, 2, 3
  on conflict (at, kind, lane) do update set items = m.items + excluded.items,
    items_failed = m.items_failed + excluded.items_failed
), by_kind as (
  insert into belfry.kind_total as k (kind, buckets, items_processed, items_succeeded, items_failed)
  select kind, array_fill(0, array[$2::int]), sum(processed), sum(succeeded), sum(failed) from gone group by kind order by kind
  on conflict (kind) do update set items_processed = k.items_processed + excluded.items_processed,
    items_succeeded = k.items_succeeded + excluded.items_succeeded, items_failed = k.items_failed + excluded.items_failed
)
select count(*)::int as rows from gone`);
