import { statement } from "../statement.ts";
import type { State } from "../../machine/state.ts";
import type { RunState } from "../../machine/run.ts";

export interface SignaledRow {
  readonly id: string;
  readonly state: State;
  readonly run_state: RunState;
  readonly awaits_signal: boolean;
  /** Of the first signal, in ms; null: this one is the first. */
  readonly at: number | null;
  readonly by: string | null;
  readonly same: boolean;
  readonly written: boolean;
}

/**
 * The payload of the first signal becomes that of the task that waits for it, whether its predecessors have released it or will.
 * A release reads `signaled_at` from the row that it has locked, so of the two the later one sees the other. A RUNNING task may
 * have looked already: it takes none. $1 run $2 task $3 payload $4 caller. Locks: the task's row, waiting.
 */
export const writeSignal = statement<SignaledRow>("signal")(`
with mine as materialized (
  select j.id, j.state, j.awaits_signal, j.signaled_at, j.signaled_by, j.payload, r.state as run_state
  from belfry.job j join belfry.run r on r.id = j.run_id
  where j.run_id = $1::bigint and j.task = $2
  for no key update of j
), written as (
  update belfry.job j set payload = $3::jsonb, signaled_at = belfry.now(), signaled_by = $4
  from mine m
  where j.id = m.id and m.awaits_signal and m.signaled_at is null and m.run_state = 'RUNNING'
    and m.state in ('PENDING', 'QUEUED', 'RETRY_WAIT')
  returning j.id
)
select m.id, m.state, m.run_state, m.awaits_signal, belfry.ms(m.signaled_at) as at, m.signaled_by as by,
  m.payload = $3::jsonb as same, w.id is not null as written
from mine m left join written w on w.id = m.id`);
