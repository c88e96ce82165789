import { z } from "zod";
import type { Tx } from "../machine/transaction.ts";

/** A statement whose rows people read: its text, what it takes, and the shape of a row, which is the API's. */
export interface SqlQuery<P, R> {
  readonly name: string;
  readonly text: string;
  /** Planned with its values each time. */
  readonly keptRowsMax: 0;
  /** The values of `$1`, `$2` and so on. */
  params(of: P): unknown[];
  readonly row: z.ZodType<R>;
  /** As of a statement, which it is for the adapter. */
  readonly answers?: R;
}

/**
 * The name travels as a comment, so that pg_stat_activity and a slow-query log can say which statement it was. Called with what it
 * takes and answers, nothing where that is left out, and then with the text.
 */
export const sqlQuery =
  <P, R = never>(name: string, of: Partial<Pick<SqlQuery<P, R>, "params" | "row">> = {}) =>
  (text: string): SqlQuery<P, R> => {
    const { params = () => [], row = z.never() } = of;
    return { name, text: `/* belfry:${name} */${text}`, keptRowsMax: 0, params, row };
  };

/** Runs queries on the connections for short statements. */
export interface Database {
  run<P, R>(query: SqlQuery<P, R>, params: P): Promise<R[]>;
  /** Retried after a deadlock, so `work` must only write through its own database. */
  transaction<T>(work: (database: Database) => Promise<T>): Promise<T>;
  /** As a part of a transaction that is open. */
  within(tx: Tx): Database;
  /** The history that ids of events belong to; another one begins where the server was restored or exchanged. */
  epoch(): Promise<{ readonly name: string; readonly first_event_id: string }>;
}

/** An instant as the API says it: ISO 8601 in UTC; null stays null. */
export const isoText = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export async function oneRow<P, R>(database: Database, query: SqlQuery<P, R>, params: P): Promise<R> {
  const [row] = await database.run(query, params);
  if (row === undefined) throw new Error(`the query ${query.name} gave no row`);
  return row;
}
