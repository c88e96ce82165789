/**
 * What every statement that writes jobs has in common: one event row for each kind of move, the rows of history that people
 * read, and the outbox. It lists its moves as `moves`. A statement that moves jobs locks them as `mine`, numbers their kinds of
 * move in `kind` (1, 2, ...) and writes `drawn.ids[kind]` into their `event_id`; one that makes jobs draws an id for PENDING and
 * one for QUEUED.
 */

/**
 * An event id for each kind of move, drawn after the locks: a statement that drew first and then waited for a row would have a
 * smaller id than the move it waited for, which the trigger `job_guard` refuses. `next_event` gives the transaction its number
 * first: a reader finds ids below those it has seen by the number, and would never find one that was drawn before it.
 */
export const drawnFrom = (kinds: string): string => `drawn as materialized (
  select array_agg(belfry.next_event()) as ids from generate_series(1, (select max(kind) from ${kinds})::int)
)`;
export const drawEvents = drawnFrom("mine");

/** The same where all moves of the statement are of one kind: `drawn.id`. */
export const drawnOnce = `drawn as materialized (
  select belfry.next_event() as id from mine having count(*) > 0
)`;

/** `moves`: event_id, id, from_state, to_state, attempt, generation, worker, reason, caller, error_code, started_at. */
export const events = `recorded as (
  insert into belfry.event (id, at, from_state, to_state, worker, reason, error_code, job_ids, attempts, generations, started_at)
  select event_id, belfry.now(), min(from_state), min(to_state), min(worker), min(reason), min(error_code),
    array_agg(id), array_agg(attempt), array_agg(generation), array_agg(started_at) filter (where from_state = 'RUNNING')
  from moves group by event_id order by event_id
)`;

const keptWith = (detail: string): string => `kept as (
  insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, worker, reason, caller, started_at, error_code,
    error_message, detail)
  select id, belfry.now(), from_state, to_state, attempt, generation, worker, reason, caller, started_at, error_code, error_message,
    ${detail}
  from moves
  where case when from_state = 'RUNNING' then to_state <> 'SUCCESS' else reason is not null or caller is not null end
  order by event_id, id
)`;

/** `moves` as above, and error_message. */
export const history = keptWith("null");
/** `moves` as above, and detail. */
export const historyWithDetail = keptWith("detail");

/** `moves` as above, and lane. What became QUEUED, by lane; the rows of a statement find their batch by theirs. */
export const outbox = `posted as (
  insert into belfry.outbox (at, lane, job_ids, generations)
  select belfry.now(), lane, array_agg(id order by id), array_agg(generation order by id)
  from moves where to_state = 'QUEUED' group by lane
  returning id, lane
)`;

/**
 * The end of a lease of this length that begins when it is given: the statement may have waited for its rows, and by its own
 * beginning a short lease would end before the worker has it.
 */
export const leaseEnd = (ms: string): string => `belfry.now() + belfry.waited() + belfry.span(${ms})`;
