import type { Query } from "../define/query.ts";
import type { Json } from "../job/job.ts";

/** One page behind `after` in the order of column `by`: a keyset page, so that page 1,000 costs what page 1 does. */
export function pageOf(
  query: Query<unknown>,
  { by, after, limit }: { readonly by: string; readonly after: unknown; readonly limit: number },
): { text: string; values: unknown[] } {
  const column = `page."${by.replaceAll('"', '""')}"`;
  const count = query.values.length;
  if (after === null) {
    return {
      text: `select * from (${query.text}) as page order by ${column} limit $${count + 1}`,
      values: [...query.values, limit],
    };
  }
  return {
    text: `select * from (${query.text}) as page where ${column} > $${count + 1} order by ${column} limit $${count + 2}`,
    values: [...query.values, after, limit],
  };
}

/** @throws Error when the query does not select the column it is paged by. */
export function cursorOf(id: string, by: string, row: unknown): Json {
  const value: unknown = typeof row === "object" && row !== null ? Reflect.get(row, by) : undefined;
  if (value === undefined || value === null) {
    throw new Error(
      `"${id}": its query is paged by column "${by}", which a row does not have: select it, or set \`by\``,
    );
  }
  return value instanceof Date ? value.toISOString() : (value as Json);
}
