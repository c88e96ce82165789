import { inOrder, orderOf } from "../../admission/order.ts";
import { keptForAnySize } from "../statement.ts";

export interface GatheredRow {
  readonly id: string;
  readonly generation: number;
  readonly trace: string;
  readonly kind: string;
  readonly key: string;
  readonly of: string;
  readonly started: boolean;
  /** Its message is out. */
  readonly out: boolean;
}

/** Of the batch `b`, what may be started with its first job: as `job_batch` has it. */
const waiting = `kind = b.kind and batch_key = b.key and batch_key is not null and finished_at is null
      and state in ('PENDING', 'QUEUED', 'RETRY_WAIT') and held_on = '' and not blocked and not solo_required and due_at <= belfry.now() + belfry.span(b.wait_ms)`;

/**
 * Others that wait for these jobs become due now; the first of each call is noted in all of them. $1 ids of started jobs, ascending $2 most of
 * a call $3 wait in ms. No move, so no event: the claim that follows moves them, by their generations. Locks: the started jobs, which are the
 * caller's, then others in (due_at, id) order with SKIP LOCKED, so that it never waits for what another worker takes.
 */
export const gatherBatch = keptForAnySize<GatheredRow>("batch-gather")(`
with started as materialized (
  select j.id, j.generation, j.trace, j.kind, j.batch_key as key, j.lane, s.most, s.wait_ms
  from unnest($1::bigint[], $2::int[], $3::float8[]) as s (id, most, wait_ms) join belfry.job j on j.id = s.id
  where j.batch_key is not null
), batches as materialized (
  select kind, key, lane, wait_ms, min(id) as of, (most - count(*) % most) % most as places
  from started group by kind, key, lane, most, wait_ms
), others as materialized (
  select w.id, w.generation, w.trace, w.state, b.kind, b.key, b.of
  from batches b cross join lateral (
    select id, generation, trace, state from belfry.job
    where ${waiting} and lane = b.lane
    ${inOrder} limit b.places
    for no key update skip locked
  ) w
), members as materialized (
  select id, generation, trace, kind, key, of, false as started, state = 'QUEUED' as out from others
  union all
  select s.id, s.generation, s.trace, s.kind, s.key, b.of, true, true from started s join batches b using (kind, key, lane)
), noted as (
  update belfry.job j set batch_of = m.of, due_at = least(j.due_at, belfry.now()) from members m
  where j.id = m.id and (not m.started or j.batch_of is distinct from m.of)
)
select id, generation, trace, kind, key, of, started, out from members order by of, started desc, id`);

/** The first job of each batch of which as many wait as a call takes, if none is due. $1 kinds $2 keys $3 most of a call $4 wait in ms. Locks nothing. */
export const fullBatches = keptForAnySize<{ id: string }>("batch-full")(`
select f.id
from unnest($1::text[], $2::text[], $3::int[], $4::float8[]) as b (kind, key, most, wait_ms) cross join lateral (
  select (array_agg(w.id order by ${orderOf("w")}))[1] as id, count(*) as waiting, min(w.due_at) as first_at
  from (
    select id, due_at from belfry.job
    where ${waiting}
    ${inOrder} limit b.most
  ) w
) f
where f.waiting = b.most and f.first_at > belfry.now()`);
