import type { Tx } from "../../core/ports.ts";
import { converted } from "./failure.ts";

/**
 * A named, static text. It is sent unnamed: a plan prepared on an empty table would be kept for ever.
 * `R` is the row it returns; the text is the only place that can make that untrue, and the contract suite reads it.
 */
export interface Statement<R> {
  readonly name: string;
  readonly text: string;
  readonly row?: R;
}

/** The name travels as a comment, so that pg_stat_activity and a slow-query log can say which statement it was. */
export const statement = <R>(name: string, text: string): Statement<R> => ({
  name,
  text: `/* belfry:${name} */${text}`,
});

/** Runs one statement on a pool (its own transaction) or on a client that has begun one. */
export async function execute<R>(tx: Tx, { name, text }: Statement<R>, values: unknown[] = []): Promise<R[]> {
  try {
    const { rows } = await tx.query(text, values);
    return rows as R[];
  } catch (error) {
    throw converted(error, `statement ${name}`);
  }
}

/** Text arrays inside an array parameter travel as array literals, since unnest would flatten them. */
export const arrayLiteral = (items: readonly string[]): string | null =>
  items.length === 0 ? null : `{${items.map((item) => JSON.stringify(item)).join(",")}}`;

/** One array per column, for `unnest`. */
export function columns<T>(rows: readonly T[], ...pick: readonly ((row: T) => unknown)[]): unknown[][] {
  return pick.map((of) => rows.map((row) => of(row)));
}
