/**
 * A query over the app's own tables, made by `sql`. Its rows are read page by page in the order of one column, so it needs a
 * column that is never null and never changes (`id` unless said otherwise).
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

export const isQuery = <R>(source: Query<R> | AsyncIterable<R> | Iterable<R>): source is Query<R> => "text" in source;
