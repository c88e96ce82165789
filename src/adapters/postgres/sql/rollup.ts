import { statement } from "../statement.ts";

export interface MinuteRow {
  readonly at: number;
  readonly created: number;
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly retried: number;
  readonly canceled: number;
  readonly skipped: number;
  readonly lost: number;
  readonly run_ms: number;
}

/** $1 since $2 kind or null $3 lane or null $4 minutes at most. Locks nothing. */
export const readMinutes = statement<MinuteRow>(
  "minutes",
  `
select belfry.ms(at) as at, sum(created)::float8 as created, sum(started)::float8 as started,
  sum(succeeded)::float8 as succeeded, sum(failed)::float8 as failed, sum(retried)::float8 as retried,
  sum(canceled)::float8 as canceled, sum(skipped)::float8 as skipped, sum(lost)::float8 as lost,
  sum(run_ms)::float8 as run_ms
from belfry.minute
where at >= belfry.at($1::float8) and ($2::text is null or kind = $2::text) and ($3::text is null or lane = $3::text)
group by at
order by at limit $4`,
);

/** Locks nothing. */
export const readKindTotals = statement<{
  kind: string;
  tries: number;
  seconds: number;
  buckets: number[];
  items_processed: number;
  items_succeeded: number;
  items_failed: number;
  locks_acquired: number;
  locks_failed: number;
}>(
  "kind-totals",
  `
select kind, tries::float8 as tries, seconds, buckets::float8[] as buckets, items_processed::float8 as items_processed,
  items_succeeded::float8 as items_succeeded, items_failed::float8 as items_failed, locks_acquired::float8 as locks_acquired,
  locks_failed::float8 as locks_failed
from belfry.kind_total order by kind limit $1`,
);

/** The first time: nothing that happened before is added up. Locks the new row only. */
export const createRollUp = statement<never>(
  "roll-up-create",
  `
insert into belfry.reader (name, upto) values ('roll-up', pg_snapshot_xmin(pg_current_snapshot())::text)
on conflict (name) do nothing`,
);

/** Locks the roll-up's own row, SKIP LOCKED: one process at a time adds up, the others have nothing to do. */
export const lockRollUp = statement<{ upto: string; xmin: string }>(
  "roll-up-lock",
  `
select upto, pg_snapshot_xmin(pg_current_snapshot())::text as xmin from belfry.reader where name = 'roll-up'
for no key update skip locked`,
);

/**
 * The end of the next page: of the transactions from $1 to $2 the first behind which $3 moves lie. Every transaction below the
 * oldest one still open has ended, so the events of such a range are all there and never change: each is added up exactly
 * once. Locks nothing.
 */
export const findRollUpEnd = statement<{ upto: string }>(
  "roll-up-end",
  `
select coalesce((
  select greatest(xid::text::numeric, $1::numeric + 1)::text from (
    select e.xid, sum(cardinality(e.job_ids)) over (order by e.xid, e.id) - cardinality(e.job_ids) as before
    from (
      select xid, id, job_ids from belfry.event where xid >= $1::text::xid8 and xid < $2::text::xid8
      order by xid, id limit $3 + 1
    ) e
  ) summed
  where before >= $3 order by xid limit 1
), $2) as upto`,
);

/**
 * Adds up the events of the transactions from $1 up to $2. $3 upper bounds of the durations in seconds.
 * Locks: rows of `minute`, `kind_total` and `worker` in key order; only the holder of the roll-up's row writes them.
 */
export const addUp = statement<{ events: number }>(
  "roll-up",
  `
with told as materialized (
  select m.job_id, e.at, e.from_state, e.to_state, e.worker, e.reason, j.kind, j.lane, j.slot_keys,
    case when e.to_state = 'SUCCESS' then j.result end as result,
    case when e.from_state = 'RUNNING' then e.worker end as by, coalesce(e.error_code = 'WORKER_LOST', false) as is_lost,
    case when e.from_state = 'RUNNING' then greatest(0, extract(epoch from e.at - m.started_at))::float8 end as seconds
  from belfry.event e cross join lateral unnest(e.job_ids, e.started_at) as m (job_id, started_at)
  left join belfry.job j on j.id = m.job_id
  where e.xid >= $1::text::xid8 and e.xid < $2::text::xid8
), by_minute as (
  insert into belfry.minute as m (at, kind, lane, created, started, succeeded, failed, retried, canceled, skipped, lost, run_ms)
  select date_trunc('minute', at), coalesce(kind, '(pruned)'), coalesce(lane, '(pruned)'),
    count(*) filter (where from_state is null), count(*) filter (where to_state = 'RUNNING'),
    count(*) filter (where to_state = 'SUCCESS'), count(*) filter (where to_state = 'FAILED'),
    count(*) filter (where from_state = 'RUNNING' and to_state = 'RETRY_WAIT'), count(*) filter (where to_state = 'CANCELED'),
    count(*) filter (where to_state = 'SKIPPED'), count(*) filter (where is_lost), coalesce(sum(seconds) * 1000, 0)::bigint
  from told group by 1, 2, 3 order by 1, 2, 3
  on conflict (at, kind, lane) do update set created = m.created + excluded.created, started = m.started + excluded.started,
    succeeded = m.succeeded + excluded.succeeded, failed = m.failed + excluded.failed, retried = m.retried + excluded.retried,
    canceled = m.canceled + excluded.canceled, skipped = m.skipped + excluded.skipped, lost = m.lost + excluded.lost,
    run_ms = m.run_ms + excluded.run_ms
), by_kind as (
  insert into belfry.kind_total as k (kind, tries, seconds, buckets, items_processed, items_succeeded, items_failed,
    locks_acquired, locks_failed)
  select kind, count(seconds), coalesce(sum(seconds), 0),
    array(
      select count(s) from generate_series(0, cardinality($3::float8[])) as bucket
      left join unnest(array_agg(seconds)) s on width_bucket(s, $3::float8[]) = bucket
      group by bucket order by bucket
    ),
    coalesce(sum(case when jsonb_typeof(result -> 'processed') = 'number' then (result ->> 'processed')::numeric end), 0),
    coalesce(sum(case when jsonb_typeof(result -> 'succeeded') = 'number' then (result ->> 'succeeded')::numeric end), 0),
    coalesce(sum(case when jsonb_typeof(result -> 'failed') = 'number' then (result ->> 'failed')::numeric end), 0),
    count(*) filter (where to_state = 'RUNNING' and exists (select from unnest(slot_keys) s where starts_with(s, 'lock:'))),
    count(*) filter (where reason = 'lock-held')
  from told where kind is not null group by kind order by kind
  on conflict (kind) do update set tries = k.tries + excluded.tries, seconds = k.seconds + excluded.seconds,
    buckets = array(select coalesce(o, 0) + coalesce(n, 0) from unnest(k.buckets, excluded.buckets) with ordinality as b (o, n, i) order by i),
    items_processed = k.items_processed + excluded.items_processed, items_succeeded = k.items_succeeded + excluded.items_succeeded,
    items_failed = k.items_failed + excluded.items_failed, locks_acquired = k.locks_acquired + excluded.locks_acquired,
    locks_failed = k.locks_failed + excluded.locks_failed
), by_worker as (
  insert into belfry.worker as w (id, lane, started_at, seen_at, ended, failed, lost, lost_at)
  select id, min(lane), min(at), max(at), count(*) filter (where is_end),
    count(*) filter (where is_end and to_state in ('FAILED', 'RETRY_WAIT')), count(*) filter (where is_lost),
    max(at) filter (where is_lost)
  from (
    select worker as id, lane, at, to_state, false as is_end, false as is_lost from told where to_state = 'RUNNING'
    union all
    select by, lane, at, to_state, true, is_lost from told where by is not null
  ) each where id is not null group by id order by id
  on conflict (id) do update set lane = coalesce(w.lane, excluded.lane), seen_at = greatest(w.seen_at, excluded.seen_at),
    ended = w.ended + excluded.ended, failed = w.failed + excluded.failed, lost = w.lost + excluded.lost,
    lost_at = coalesce(excluded.lost_at, w.lost_at)
), moved as (
  update belfry.reader set upto = $2, version = version + 1 where name = 'roll-up'
)
select count(*)::int as events from told`,
);
