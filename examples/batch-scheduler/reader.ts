import type { Item } from "./items.ts";
import type { Db, ReadPort } from "./ports.ts";

/** Rows of a table, made into items. */
export const reader = <T extends Item>(db: () => Db, table: string, Made: new (row: T["row"]) => T): ReadPort<T> => ({
  async findUnpublished(startedAt, size) {
    const due = "where state = 'PENDING' and next_attempt_at <= $1 order by next_attempt_at, id limit $2";
    // One row more than `size` shows whether another batch exists.
    const { rows } = await db().query<T["row"]>(`select * from batch_scheduler.${table} ${due}`, [startedAt, size + 1]);
    return { items: rows.slice(0, size).map((row) => new Made(row)), hasMore: rows.length > size };
  },
});
