import type { Pool } from "pg";
import type { Turn, WritePort } from "./ports.ts";
import type { Download, Tried } from "./items.ts";

// Conditioned on the number of attempts that was read: of two holders of an item, the first one counts.
// The next attempt is counted from the start of the turn, so it lies after it and the turn does not meet the item again.
const persist = (table: string, values: string): string => `
  update batch_scheduler.${table} set state = $3, attempts = attempts + 1, last_error = $4,
    next_attempt_at = coalesce($5::timestamptz + $6::float8 * interval '1 millisecond', next_attempt_at),
    finished_at = case when $3 <> 'PENDING' then clock_timestamp() end${values}
  where id = $1 and attempts = $2 and state = 'PENDING'`;

const persistOutbox = persist("outbox", "");
const persistFile = persist("external_file", ", bytes = $7, sha256 = $8, content = $9");

function valuesOf({ startedAt }: Turn, { id, attemptsBefore, state, error, waitMs }: Tried<unknown>): unknown[] {
  return [id, attemptsBefore, state, error, startedAt, waitMs];
}

export const outboxWriter = (pool: Pool): WritePort<true> => ({
  async persist(turn, tried) {
    await pool.query(persistOutbox, valuesOf(turn, tried));
  },
});

export const fileWriter = (pool: Pool): WritePort<Download> => ({
  async persist(turn, tried) {
    const { bytes = null, sha256 = null, content = null } = tried.value ?? {};
    await pool.query(persistFile, [...valuesOf(turn, tried), bytes, sha256, content]);
  },
});
