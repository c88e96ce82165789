import type { Db, WritePort } from "./ports.ts";

// Conditioned on the number of attempts that was read: of two holders of an item, the first one counts.
// The next attempt is counted from the start of the turn, so it lies after it and the turn does not meet the item again.
export const writer = (pool: () => Db, table: string): WritePort => ({
  async persist(startedAt, { row, state, waitMs, error, answer }) {
    const text = `
      update batch_scheduler.${table} set state = $3, attempts = attempts + 1, last_error = $4, answer = $7,
        next_attempt_at = coalesce($5::timestamptz + $6::float8 * interval '1 millisecond', next_attempt_at),
        finished_at = case when $3 <> 'PENDING' then belfry.now() end
      where id = $1 and attempts = $2 and state = 'PENDING'`;
    await pool().query(text, [row.id, row.attempts, state, error, startedAt, waitMs, answer]);
  },
});
