import { orderOf } from "../../admission/order.ts";
import { drawEvents, events, history, outbox } from "./record.ts";

/** A row that a statement made QUEUED, with the outbox batch it stands in. */
export interface DispatchedRow {
  readonly id: string;
  readonly generation: number;
  readonly lane: string;
  readonly trace: string;
  readonly delay_ms: number;
  readonly batch: string | null;
  /** Of a batch that is sent again; a new one was not. */
  readonly resent?: number;
}

/**
 * Waiting rows -> QUEUED under a new generation, with their messages. `mine`: id, state, kind, reason and due_at of rows that
 * the statement has locked, in the order that its comment gives. `caller`: the parameter that names who asked.
 */
export const dispatch = (caller = "null"): string => `${dispatchParts(caller)}
${dispatchAnswer}
order by ${orderOf("m")}`;

/** What `dispatch` writes, and what it answers. */
export const dispatchParts = (caller = "null"): string => `${drawEvents}, moved as (
  update belfry.job j set state = 'QUEUED', event_id = d.ids[m.kind], hold = 'none', held_on = '', generation = j.generation + 1,
    due_at = m.due_at, dispatched_at = belfry.now()
  from mine m cross join drawn d where j.id = m.id
  returning j.event_id, j.id, j.generation, j.attempt, j.lane, j.trace, j.due_at, m.state as was, m.reason
), moves as (
  select event_id, id, was as from_state, 'QUEUED'::belfry.job_state as to_state, attempt, generation, lane, null::text as worker, reason,
    ${caller}::text as caller, null::text as error_code, null::text as error_message, null::timestamptz as started_at
  from moved
), ${events}, ${history}, ${outbox}`;
export const dispatchAnswer = `select m.id, m.generation, m.lane, m.trace, belfry.ms_until(m.due_at) as delay_ms, o.id as batch
from moved m join posted o on o.lane = m.lane`;

/** PENDING and RETRY_WAIT are two kinds of move. */
export const waitingKind = `case state when 'PENDING' then 1 else 2 end as kind`;
