import { keptStatement, statement } from "../statement.ts";
import { dispatch, type DispatchedRow, waitingKind } from "./dispatch.ts";
import { outbox } from "./record.ts";

/**
 * Waiting rows that may start -> QUEUED, the earliest due first. Locks: jobs in (due_at, id) order with SKIP LOCKED, so
 * that it never waits and two relays share the work; then only new rows. $3 null is every lane: the planner folds it
 * away, since an unnamed statement is planned with its values.
 */
export const relayDue = statement<DispatchedRow>(
  "relay",
  `
with mine as materialized (
  select id, state, due_at, null::text as reason, ${waitingKind} from belfry.job
  where held_on = '' and dispatched_at is null and finished_at is null and not blocked
    and due_at <= belfry.now() + belfry.span($1::float8) and ($3::text is null or lane = $3)
  order by due_at, id limit $2
  for no key update skip locked
), ${dispatch()}`,
);

/**
 * Waiting rows that are not held -> QUEUED and due now, whatever their due time was. $1 ids $2 caller. Locks: jobs in id
 * order, waiting.
 */
export const runNow = statement<DispatchedRow>(
  "run-now",
  `
with mine as materialized (
  select id, state, belfry.now() as due_at, 'run now' as reason, ${waitingKind} from belfry.job
  where id = any($1::bigint[]) and held_on = '' and dispatched_at is null and finished_at is null and not blocked
  order by id
  for no key update
), ${dispatch("$2")}`,
);

/**
 * QUEUED rows whose message comes later: due now under a new generation, with a message of their own. No move, so no event.
 * $1 ids. Locks: jobs in id order, waiting.
 */
export const redispatchNow = statement<DispatchedRow>(
  "run-now-queued",
  `
with mine as materialized (
  select id from belfry.job
  where id = any($1::bigint[]) and state = 'QUEUED' and due_at > belfry.now()
  order by id
  for no key update
), moves as (
  update belfry.job j set due_at = belfry.now(), generation = j.generation + 1, dispatched_at = belfry.now()
  from mine where j.id = mine.id
  returning j.id, j.generation, j.lane, j.trace, j.state as to_state
), ${outbox}
select m.id, m.generation, m.lane, m.trace, 0::float8 as delay_ms, o.id as batch
from moves m join posted o on o.lane = m.lane
order by m.id`,
);

/**
 * Fully confirmed batches. Locks: their rows, which no other statement waits for (`reopen` skips locked ones).
 * The one commit that need not be durable: a confirmation that a crash takes back costs a second message and no more,
 * while waiting for the disk would make every enqueue, and the claim it races with, wait for one flush more.
 */
export const confirmWhole = keptStatement<never>(
  "confirm",
  `
with quick as materialized (
  select set_config('synchronous_commit', 'off', true) as setting
)
delete from belfry.outbox where id = any($1::bigint[]) and (select setting from quick) = 'off'`,
);

/** Keeps the failed ids of one partly confirmed batch. Locks that row. */
export const confirmPart = statement<never>(
  "confirm-part",
  `
update belfry.outbox set (job_ids, generations) = (
  select array_agg(m.id order by m.ord), array_agg(m.generation order by m.ord)
  from unnest(job_ids, generations) with ordinality as m (id, generation, ord) where m.id = any($2::bigint[])
)
where id = $1::bigint and job_ids && $2::bigint[]`,
);

/**
 * Open batches -> new ones with what still waits under its generation. Locks: outbox rows, oldest first, SKIP LOCKED; no job:
 * a row that moves at the same time only makes a message stale.
 */
export const reopenOutbox = statement<DispatchedRow>(
  "reopen",
  `
with open as materialized (
  select id, job_ids, generations from belfry.outbox
  where at <= belfry.now() - belfry.span($1::float8) and ($3::text is null or lane = $3)
  order by at, id limit $2
  for update skip locked
), gone as (
  delete from belfry.outbox where id = any(array(select id from open))
), moves as materialized (
  select j.id, j.generation, j.lane, j.trace, j.due_at, j.state as to_state
  from open cross join lateral unnest(open.job_ids, open.generations) as m (id, generation)
  join belfry.job j on j.id = m.id and j.generation = m.generation
  where j.state = 'QUEUED'
), ${outbox}
select m.id, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, o.id as batch
from moves m join posted o on o.lane = m.lane
order by m.id`,
);
