import type { Query } from "../define/query.ts";
import type { Json } from "../machine/job.ts";
import type { Tx } from "../machine/transaction.ts";

interface Page {
  /** `limit` rows, and those with the same value as the last of them; fewer: the last page. */
  readonly rows: readonly unknown[];
  /** Behind the last row: its value as Postgres writes it, so that nothing of it is rounded. Null for no rows. */
  readonly cursor: Json | null;
}

const cursorColumn = "belfry_cursor";

/**
 * One page behind `after` in the order of column `by`: a keyset page, so that page 1,000 costs what page 1 does. Rows of one
 * value are never parted, so a column that is not unique loses none.
 * @throws Error when the query has no such column, or a row no value in it.
 */
export async function readPage(
  tx: Tx,
  query: Query<unknown>,
  {
    id,
    by,
    after,
    limit,
  }: { readonly id: string; readonly by: string; readonly after: unknown; readonly limit: number },
): Promise<Page> {
  const column = `page."${by.replaceAll('"', '""')}"`;
  const next = query.values.length + 1;
  const behind = after === null ? "" : `where ${column} > $${next + 1}`;
  const text = `select page.*, ${column}::text as ${cursorColumn} from (${query.text}) as page ${behind}
order by ${column} fetch first $${next} rows with ties`;
  const values = [...query.values, limit, ...(after === null ? [] : [after])];
  const { rows } = await tx.query(text, values).catch((cause: unknown) => {
    if (!(cause instanceof Error && cause.message.startsWith("column page."))) throw cause;
    throw new Error(`"${id}": its query has no column "${by}": select it, or name another one as \`by\``, { cause });
  });
  const whole = rows as readonly Record<string, unknown>[];
  const cursor = whole.at(-1)?.[cursorColumn] ?? null;
  if (rows.length > 0 && typeof cursor !== "string") {
    throw new Error(`"${id}": its query is paged by column "${by}", which is null in a row: leave such rows out`);
  }
  return { rows: whole.map(withoutCursor), cursor: cursor as string | null };
}

const withoutCursor = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).filter(([name]) => name !== cursorColumn));
