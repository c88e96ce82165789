import { waitsAgain } from "../../admission/order.ts";
import { drawEvents, drawnOnce, events, history, outbox } from "./record.ts";

/**
 * QUEUED rows -> PENDING under a new generation, so that the message under way claims nothing: `mine` of id, hold, held_on
 * and reason.
 */
export const putBack = `${drawnOnce}, moved as (
  update belfry.job j set state = 'PENDING', event_id = d.id, hold = m.hold, held_on = m.held_on, generation = j.generation + 1,
    dispatched_at = null
  from mine m cross join drawn d where j.id = m.id
  returning j.event_id, j.id, j.attempt, j.generation, m.reason
), moves as (
  select event_id, id, 'QUEUED'::belfry.job_state as from_state, 'PENDING'::belfry.job_state as to_state, attempt, generation,
    null::text as worker, reason, null::text as caller, null::text as error_code, null::text as error_message,
    null::timestamptz as started_at
  from moved
), ${events}, ${history}
select id from moved order by id`;

/**
 * Jobs that ended without success run again, by an operator's decision: counters and expiry begin again, the attempt stays,
 * since it is the fence. One that takes turns waits for its own. `mine`: id, state, due_at, starts (QUEUED at once), blocked,
 * catch_up and slot_keys (null keeps them), reason and kind.
 */
export const runAgain = `${drawEvents}, moved as (
  update belfry.job j set state = case when m.starts and j.turn is null then 'QUEUED' else 'PENDING' end::belfry.job_state,
    event_id = d.ids[m.kind], blocked = m.blocked, generation = j.generation + 1, failures = 0, interruptions = 0,
    dead_letters = 0, solo_required = false, due_at = m.due_at, expires_at = null,
    dispatched_at = case when m.starts and j.turn is null then belfry.now() end, ${waitsAgain}, finished_at = null, error_code = null, error_message = null,
    end_counted = false, not_taken = false, catch_up = coalesce(m.catch_up, j.catch_up),
    slot_keys = coalesce(m.slot_keys, j.slot_keys)
  from mine m cross join drawn d where j.id = m.id
  returning j.event_id, j.id, j.state, j.attempt, j.generation, j.lane, j.trace, j.due_at, m.state as was, m.reason
)`;

/** `caller`: the parameter that names who asked. */
export const againMoves = (caller = "null"): string =>
  `select event_id, id, was as from_state, state as to_state, attempt, generation, lane, null::text as worker, reason,
    ${caller}::text as caller, null::text as error_code, null::text as error_message, null::timestamptz as started_at
  from moved`;

/** `mine` of the verbs that run single jobs again. */
export const again = `id, state, false as blocked, null::boolean as catch_up, null::text[] as slot_keys`;
export const endedKindOf = (state: string): string =>
  `case ${state} when 'FAILED' then 1 when 'CANCELED' then 2 else 3 end`;
export const endedKind = endedKindOf("state");

/** All of a statement behind its `mine`. */
export const runAgainAndDispatch = (caller: string): string => `${runAgain}, moves as (
  ${againMoves(caller)}
), ${events}, ${history}, ${outbox}
select m.id, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, o.id as batch
from moved m left join posted o on o.lane = m.lane and m.state = 'QUEUED'
order by m.id`;
