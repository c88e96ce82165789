import { keptStatement, statement } from "../statement.ts";

/** $1 lane $2 paused $3 by whom. Locks its row. */
export const writePause = statement<never>(
  "lane-pause",
  `
insert into belfry.lane as l (name, paused, paused_by, paused_at)
values ($1, $2, case when $2 then $3 end, case when $2 then belfry.now() end)
on conflict (name) do update set paused = excluded.paused, paused_by = excluded.paused_by, paused_at = excluded.paused_at
where l.paused is distinct from excluded.paused`,
);

/** Locks nothing. */
export const readPause = keptStatement<{ paused: boolean }>(
  "lane-paused",
  `
select paused from belfry.lane where name = $1`,
);

/**
 * Messages of a paused lane: QUEUED under that generation -> PENDING on hold, out of the due index, so that a pause costs the
 * relay nothing. $1 ids $2 generations. Locks: jobs in id order, waiting.
 */
export const holdPaused = statement<{ id: string }>(
  "lane-hold",
  `
with mine as materialized (
  select j.id from belfry.job j
  where j.id = any($1::bigint[]) and j.state = 'QUEUED'
    and j.generation = ($2::int[])[array_position($1::bigint[], j.id)]
  order by j.id
  for no key update of j
), moved as (
  update belfry.job j set state = 'PENDING', hold = 'paused', generation = j.generation + 1
  from mine m where j.id = m.id
  returning j.id, j.attempt, j.generation
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, reason)
  select id, belfry.now(), 'QUEUED', 'PENDING', attempt, generation, 'lane paused' from moved
)
select id from moved order by id`,
);

/** What a lane held while it was paused may start again; the relay hands it off. $1 lane $2 limit. Locks: jobs in id order, SKIP LOCKED. */
export const unholdPaused = statement<{ id: string }>(
  "lane-unhold",
  `
with mine as materialized (
  select id from belfry.job where hold = 'paused' and lane = $1
  order by lane, id limit $2
  for no key update skip locked
)
update belfry.job j set hold = 'none' from mine m where j.id = any(array(select id from mine)) and j.id = m.id
returning j.id`,
);

/**
 * As `unhold`, for every lane that is not paused: what a worker put on hold that did not know of the end of the pause yet, and
 * what a resume left behind whose process died. $1 limit. Locks: jobs in id order by lane, SKIP LOCKED.
 */
export const unholdOpen = statement<{ id: string }>(
  "lane-unhold-open",
  `
with mine as materialized (
  select j.id from belfry.lane l cross join lateral (
    select id from belfry.job where hold = 'paused' and lane = l.name
    order by lane, id limit $1
    for no key update skip locked
  ) j
  where not l.paused
  limit $1
)
update belfry.job j set hold = 'none' from mine m where j.id = any(array(select id from mine)) and j.id = m.id
returning j.id`,
);

/**
 * Waiting or handed off for later -> due now. A message that is out for later becomes stale. $1 ids.
 * Locks: jobs in id order, waiting.
 */
export const runNow = statement<{ id: string }>(
  "run-now",
  `
with mine as materialized (
  select id, state from belfry.job
  where id = any($1::bigint[]) and state in ('PENDING', 'QUEUED', 'RETRY_WAIT') and not blocked and due_at > belfry.now()
  order by id
  for no key update
), moved as (
  update belfry.job j set due_at = belfry.now(), state = case m.state when 'QUEUED' then 'PENDING' else m.state end,
    generation = j.generation + (m.state = 'QUEUED')::int
  from mine m where j.id = m.id
  returning j.id, j.attempt, j.generation, m.state as was
), told as (
  insert into belfry.event (job_id, at, from_state, to_state, attempt, generation, reason)
  select id, belfry.now(), was, 'PENDING', attempt, generation, 'run now' from moved where was = 'QUEUED'
)
select id from moved order by id`,
);
