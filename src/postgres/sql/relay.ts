import { inOrder, isWaiting } from "../../admission/order.ts";
import { keptStatement, statement } from "../statement.ts";
import { dispatch, type DispatchedRow, waitingKind } from "./dispatch.ts";
import { outbox } from "./record.ts";

/**
 * Waiting rows that may start -> QUEUED, the earliest due first. Locks: jobs in (due_at, id) order with SKIP LOCKED, so
 * that it never waits and two relays share the work; then only new rows. $3 null is every lane.
 */
export const relayDue = keptStatement<DispatchedRow>("relay")(`
with mine as materialized (
  select id, state, due_at, null::text as reason, ${waitingKind} from belfry.job
  where held_on = '' and ${isWaiting}
    and due_at <= belfry.now() + belfry.span($1::float8) and ($3::text is null or lane = $3)
  ${inOrder} limit $2
  for no key update skip locked
), ${dispatch()}`);

/**
 * Waiting rows that are not held -> QUEUED and due now, whatever their due time was. $1 ids $2 caller $3 reason. Locks: jobs in id
 * order, waiting.
 */
export const runNow = statement<DispatchedRow>("run-now")(`
with mine as materialized (
  select id, state, belfry.now() as due_at, $3::text as reason, ${waitingKind} from belfry.job
  where id = any($1::bigint[]) and held_on = '' and ${isWaiting}
  order by id
  for no key update
), ${dispatch("$2")}`);

/**
 * QUEUED rows whose message comes later: due now under a new generation, with a message of their own. No move, so no event.
 * $1 ids. Locks: jobs in id order, waiting.
 */
export const redispatchNow = statement<DispatchedRow>("run-now-queued")(`
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
order by m.id`);

/**
 * Fully confirmed batches. Locks: their rows, which no other statement waits for (`reopen` skips locked ones).
 * The one commit that need not be durable: a confirmation that a crash takes back costs a second message and no more,
 * while waiting for the disk would make every enqueue, and the claim it races with, wait for one flush more.
 */
export const confirmWhole = keptStatement<never>("confirm")(`
with quick as materialized (
  select set_config('synchronous_commit', 'off', true) as setting
)
delete from belfry.outbox where id = any(array(select unnest($1::bigint[]))) and (select setting from quick) = 'off'`);

/**
 * Takes what the queue accepted out of open batches: of each only its unsent ids stay, and a batch without any is deleted.
 * Batches that are still the caller's, by `resent`, get `at` now, so that no other process takes them; null claims none.
 * Answers the batches that are the caller's. $1 batches $2 resent $3 unsent ids of each, as array texts.
 * Locks: outbox rows in id order, waiting; a deadlock with a `confirm` of the same batches is retried.
 */
export const keepBatches = statement<{ id: string }>("keep")(`
with given as materialized (
  select id, resent, unsent::bigint[] as unsent from unnest($1::bigint[], $2::int[], $3::text[]) as g (id, resent, unsent) order by id
), open as materialized (
  select o.id, o.resent is not distinct from g.resent as is_kept, u.ids, u.generations
  from given g cross join lateral (
    select id, resent, job_ids, generations from belfry.outbox where id = g.id for no key update
  ) o cross join lateral (
    select array_agg(m.id order by m.ord) as ids, array_agg(m.generation order by m.ord) as generations
    from unnest(o.job_ids, o.generations) with ordinality as m (id, generation, ord)
    where m.id in (select unnest(g.unsent))
  ) u
), gone as (
  delete from belfry.outbox where id = any(array(select id from open where ids is null))
), kept as (
  update belfry.outbox o set at = case when k.is_kept then belfry.now() else o.at end, job_ids = k.ids, generations = k.generations
  from open k where o.id = k.id and k.ids is not null
)
select id from open where is_kept`);

/**
 * Open batches that no sender kept for $1 ms are taken to be sent again: in place, so that a late confirmation of their first
 * sender still counts, and never merged. Oldest first, at most $2 batches and $4 messages, but one batch in any case. Answers what
 * still waits under its generation; batches of which nothing does are deleted. Locks: outbox rows, oldest first, SKIP LOCKED, and
 * `at` is read again under the lock; no job: a row that moves at the same time only makes a message stale. Each job is
 * looked up by its id (`limit 1` keeps it so).
 */
export const reopenOutbox = keptStatement<DispatchedRow>("reopen")(`
with recursive lanes as (
  (select lane from belfry.outbox order by lane limit 1)
  union all
  select n.lane from lanes l cross join lateral (select lane from belfry.outbox where lane > l.lane order by lane limit 1) n
), sized as materialized (
  select id, sum(messages) over (order by at, id) - messages as before from (
    select o.* from lanes l cross join lateral (
      select id, at, cardinality(job_ids) as messages from belfry.outbox
      where lane = l.lane and at <= belfry.now() - belfry.span($1::float8) order by at, id limit $2
    ) o where $3::text is null or l.lane = $3 order by at, id limit $2
  ) oldest
), open as materialized (
  select id, job_ids, generations from belfry.outbox
  where id = any(array(select id from sized where before < $4::int)) and at <= belfry.now() - belfry.span($1::float8)
  order by at, id
  for update skip locked
), waiting as materialized (
  select o.id as batch, j.id, j.generation, j.lane, j.trace, j.due_at
  from open o cross join lateral unnest(o.job_ids, o.generations) as m (id, generation) cross join lateral (
    select id, generation, lane, trace, due_at from belfry.job
    where id = m.id and generation = m.generation and state = 'QUEUED' limit 1
  ) j
), gone as (
  delete from belfry.outbox where id = any(array(select id from open except select batch from waiting))
), taken as (
  update belfry.outbox set at = belfry.now(), resent = resent + 1 where id = any(array(select batch from waiting))
  returning id, resent
)
select w.id, w.generation, w.lane, w.trace, belfry.ms_until(w.due_at) as delay_ms, w.batch, t.resent
from waiting w join taken t on t.id = w.batch
order by w.batch, w.id`);
