import type { Pool } from "pg";
import type { Download, ExternalFile, OutboxMessage, Writer } from "./ports.ts";

// Every write is conditioned on the number of tries that was read: of two holders of an item, the first one counts.
// The next try is counted from the start of the turn, so it lies after it and the turn does not meet the item again.
const messageDone = `
  update batch_scheduler.outbox
  set state = 'PUBLISHED', attempts = attempts + 1, last_error = null, finished_at = clock_timestamp()
  where id = $1 and attempts = $2 and state = 'PENDING'`;

const messageAgain = `
  update batch_scheduler.outbox
  set attempts = attempts + 1, last_error = $3, next_attempt_at = $4::timestamptz + $5::float8 * interval '1 millisecond'
  where id = $1 and attempts = $2 and state = 'PENDING'`;

const messageFailed = `
  update batch_scheduler.outbox
  set state = 'FAILED', attempts = attempts + 1, last_error = $3, finished_at = clock_timestamp()
  where id = $1 and attempts = $2 and state = 'PENDING'`;

const fileDone = `
  update batch_scheduler.external_file
  set state = 'DOWNLOADED', attempts = attempts + 1, last_error = null, finished_at = clock_timestamp(),
    bytes = $3, sha256 = $4, content = $5
  where id = $1 and attempts = $2 and state = 'PENDING'`;

const fileAgain = `
  update batch_scheduler.external_file
  set attempts = attempts + 1, last_error = $3, next_attempt_at = $4::timestamptz + $5::float8 * interval '1 millisecond'
  where id = $1 and attempts = $2 and state = 'PENDING'`;

const fileFailed = `
  update batch_scheduler.external_file
  set state = 'FAILED', attempts = attempts + 1, last_error = $3, finished_at = clock_timestamp()
  where id = $1 and attempts = $2 and state = 'PENDING'`;

export const outboxWriter = (pool: Pool): Writer<OutboxMessage, true> => ({
  async save(turn, { id, attempts }, verdict) {
    if (verdict.state === "done") await pool.query(messageDone, [id, attempts]);
    else if (verdict.state === "failed") await pool.query(messageFailed, [id, attempts, verdict.error]);
    else await pool.query(messageAgain, [id, attempts, verdict.error, turn.startedAt, verdict.afterMs]);
  },
});

export const fileWriter = (pool: Pool): Writer<ExternalFile, Download> => ({
  async save(turn, { id, attempts }, verdict) {
    if (verdict.state === "failed") await pool.query(fileFailed, [id, attempts, verdict.error]);
    else if (verdict.state === "again")
      await pool.query(fileAgain, [id, attempts, verdict.error, turn.startedAt, verdict.afterMs]);
    else {
      const { bytes, sha256, content } = verdict.value;
      await pool.query(fileDone, [id, attempts, bytes, sha256, content]);
    }
  },
});
