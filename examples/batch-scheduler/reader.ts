import type { Pool } from "pg";
import type { ExternalFile, Item, OutboxMessage, Reader } from "./ports.ts";

const now = "select now()::text as started_at";

const waitingMessages = `
  select id::text as id, attempts, key, topic, body::text as body
  from batch_scheduler.outbox
  where state = 'PENDING' and next_attempt_at <= $1::timestamptz
  order by next_attempt_at, id
  limit $2`;

const waitingFiles = `
  select id::text as id, attempts, path
  from batch_scheduler.external_file
  where state = 'PENDING' and next_attempt_at <= $1::timestamptz
  order by next_attempt_at, id
  limit $2`;

export const outboxReader = (pool: Pool): Reader<OutboxMessage> => reader<OutboxMessage>(pool, waitingMessages);
export const fileReader = (pool: Pool): Reader<ExternalFile> => reader<ExternalFile>(pool, waitingFiles);

function reader<T extends Item>(pool: Pool, waiting: string): Reader<T> {
  return {
    async begin() {
      const { rows } = await pool.query<{ started_at: string }>(now);
      const [row] = rows;
      if (row === undefined) throw new Error("the database answered no time");
      return { startedAt: row.started_at };
    },
    async next(turn, size) {
      // One row more than `size` shows whether another batch exists.
      const { rows } = await pool.query(waiting, [turn.startedAt, size + 1]);
      return { items: (rows as T[]).slice(0, size), hasMore: rows.length > size };
    },
  };
}
