import type { Pool } from "pg";
import { ExternalFile, Outbox } from "./items.ts";
import type { ReadPort } from "./ports.ts";

const waiting = (columns: string, table: string): string => `
  select id::text as id, attempts, ${columns} from batch_scheduler.${table}
  where state = 'PENDING' and next_attempt_at <= $1::timestamptz
  order by next_attempt_at, ${table}.id limit $2`;

export const outboxReader = (pool: Pool): ReadPort<Outbox> =>
  reader(pool, waiting("key, topic, body::text as body", "outbox"), (row) => new Outbox(row));
export const fileReader = (pool: Pool): ReadPort<ExternalFile> =>
  reader(pool, waiting("path", "external_file"), (row) => new ExternalFile(row));

type Row = ConstructorParameters<typeof Outbox>[0] & ConstructorParameters<typeof ExternalFile>[0];

const reader = <T>(pool: Pool, text: string, toItem: (row: Row) => T): ReadPort<T> => ({
  async begin() {
    const { rows } = await pool.query<{ started_at: string }>("select now()::text as started_at");
    const [row] = rows;
    if (row === undefined) throw new Error("the database answered no time");
    return { startedAt: row.started_at };
  },
  async findUnpublished(turn, size) {
    // One row more than `size` shows whether another batch exists.
    const { rows } = await pool.query<Row>(text, [turn.startedAt, size + 1]);
    return { items: rows.slice(0, size).map(toItem), hasMore: rows.length > size };
  },
});
