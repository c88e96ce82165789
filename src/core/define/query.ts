/**
 * A query over the app's own tables, made by `sql`. Its rows are read page by page in the order of one column, so it needs a
 * column that is unique and never changes (`id` unless said otherwise).
 */
export interface Query<R> {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Only for the types: what a row looks like. */
  readonly row?: R;
}

/** Values become parameters, never text: `sql<{ id: string }>\`select id from app_user where zone = ${zone}\``. */
export const sql = <R = Record<string, unknown>>(
  parts: TemplateStringsArray,
  ...values: readonly unknown[]
): Query<R> => ({
  text: parts.reduce((text, part, place) => `${text}$${place}${part}`),
  values,
});

export const isQuery = <R>(source: Query<R> | AsyncIterable<R>): source is Query<R> => "text" in source;

/** One page behind `after` in the order of column `by`: a keyset page, so that page 1,000 costs what page 1 does. */
export function pageOf<R>(
  query: Query<R>,
  by: string,
  after: unknown,
  limit: number,
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
