import { keptStatement, statement } from "../statement.ts";

/** One message that a committed statement decided to send. */
export interface HandedRow {
  readonly id: string;
  readonly generation: number;
  readonly lane: string;
  readonly trace: string;
  readonly delay_ms: number;
  readonly handoff: string;
}

/**
 * Waiting rows that may start -> QUEUED, the earliest due first. Locks: jobs in (due_at, id) order with SKIP LOCKED, so
 * that it never waits and two relays share the work; then only new rows. $3 null is every lane: the planner folds it
 * away, since an unnamed statement is planned with its values.
 */
export const relayDue = statement<HandedRow>(
  "relay",
  `
with due as materialized (
  select id, state from belfry.job
  where state in ('PENDING', 'RETRY_WAIT') and not blocked and hold = 'none'
    and due_at <= belfry.now() + belfry.span($1::float8) and ($3::text is null or lane = $3)
  order by due_at, id limit $2
  for no key update skip locked
), moved as (
  update belfry.job j set state = 'QUEUED', generation = j.generation + 1, handed_at = belfry.now()
  from due where j.id = due.id
  returning j.id, j.generation, j.attempt, j.lane, j.trace, j.due_at, due.state as was
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation)
  select id, belfry.now(), was, 'QUEUED', attempt, generation from moved
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select belfry.now(), lane, array_agg(id order by due_at, id), array_agg(generation order by due_at, id)
  from moved group by lane
  returning id, lane
)
select m.id, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, h.id as handoff
from moved m join handed h on h.lane = m.lane
order by m.due_at, m.id`,
);

/**
 * Fully confirmed hand-offs. Locks: their rows, which nobody else waits for (`reopen` skips locked ones).
 * The one commit that need not be durable: a confirmation that a crash takes back costs a second message and no more,
 * while waiting for the disk would make every enqueue, and the claim it races with, wait for one flush more.
 */
export const confirmWhole = keptStatement<never>(
  "confirm",
  `
with quick as materialized (
  select set_config('synchronous_commit', 'off', true) as setting
)
delete from belfry.handoff where id = any($1::bigint[]) and (select setting from quick) = 'off'`,
);

/** Keeps the failed ids of one partly confirmed hand-off. Locks that row. */
export const confirmPart = statement<never>(
  "confirm-part",
  `
update belfry.handoff set (ids, gens) = (
  select array_agg(m.id order by m.ord), array_agg(m.gen order by m.ord)
  from unnest(ids, gens) with ordinality as m (id, gen, ord) where m.id = any($2::bigint[])
)
where id = $1::bigint and ids && $2::bigint[]`,
);

/**
 * Open hand-offs -> new ones with what still waits under its generation. Locks: hand-off rows, oldest first, SKIP
 * LOCKED; no job: a row that moves meanwhile only makes a message stale.
 */
export const reopenHandoffs = statement<HandedRow>(
  "reopen",
  `
with open as materialized (
  select id, ids, gens from belfry.handoff where at <= belfry.now() - belfry.span($1::float8) and ($3::text is null or lane = $3)
  order by at, id limit $2
  for update skip locked
), gone as (
  delete from belfry.handoff where id = any(array(select id from open))
), waiting as materialized (
  select j.id, j.generation, j.lane, j.trace, j.due_at
  from open cross join lateral unnest(open.ids, open.gens) as m (id, gen)
  join belfry.job j on j.id = m.id and j.generation = m.gen
  where j.id = any(array(select unnest(ids) from open)) and j.state = 'QUEUED'
), handed as (
  insert into belfry.handoff (at, lane, ids, gens)
  select belfry.now(), lane, array_agg(id order by id), array_agg(generation order by id) from waiting group by lane
  returning id, lane
)
select w.id, w.generation, w.lane, w.trace, belfry.ms_until(w.due_at) as delay_ms, h.id as handoff
from waiting w join handed h on h.lane = w.lane
order by w.id`,
);
