import type { Pool, QueryResultRow } from "pg";
import { onConnection } from "../../src/postgres/access.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { until } from "./until.ts";

let made = 0;

/** A fresh database with all tables. @returns its address. */
export async function prepareDatabase(postgresUrl: string, text: string): Promise<string> {
  const name = `proof_${process.pid}_${++made}`;
  await sql(postgresUrl, `create database ${name}`);
  const url = databaseAt({ url: postgresUrl }, `/${name}`);
  await migrate({ url });
  if (text !== "") await sql(url, text);
  return url;
}

/** The address of a database of a server, by the path of its URL. */
export const databaseAt = (server: { readonly url: string }, path: string): string =>
  Object.assign(new URL(server.url), { pathname: path }).href;

/** On a connection of its own. @returns the rows of the last statement. */
export const sql = <R = Record<string, unknown>>(url: string, text: string): Promise<readonly R[]> =>
  onConnection({ url }, async (client) => {
    const answer = (await client.query(text)) as unknown as { rows: R[] } | { rows: R[] }[];
    return Array.isArray(answer) ? (answer.at(-1)?.rows ?? []) : answer.rows;
  });

/** What a case asks of its database. */
export interface Queries {
  rows<T extends QueryResultRow>(query: string, values?: readonly unknown[]): Promise<readonly T[]>;
  /** The first row of a query. @throws Error where there is none */
  row<T extends QueryResultRow>(query: string, values?: readonly unknown[]): Promise<T>;
  /** Rows of `from`, a table with what may follow its name in a query. */
  count(from: string, values?: readonly unknown[]): Promise<number>;
  /** Waits until there is none of these rows. */
  untilNone(what: string, withinMs: number, from: string): Promise<void>;
  /** Jobs that have not ended. */
  openJobs(): Promise<number>;
  /** Waits until all jobs have ended. */
  untilEnded(withinMs: number): Promise<void>;
}

const open = "belfry.job where state < 'SUCCESS'";

export function queriesOf(pool: Pool): Queries {
  const queries: Queries = {
    rows: async (query, values = []) => (await pool.query(query, [...values])).rows,
    async row<T extends QueryResultRow>(query: string, values?: readonly unknown[]) {
      const [first] = await queries.rows<T>(query, values);
      if (first === undefined) throw new Error(`there is no row: ${query}`);
      return first;
    },
    count: async (from, values) =>
      (await queries.row<{ n: number }>(`select count(*)::int as n from ${from}`, values)).n,
    async untilNone(what, withinMs, from) {
      await until(what, withinMs, async () => (await queries.count(from)) === 0);
    },
    openJobs: () => queries.count(open),
    untilEnded: (withinMs) => queries.untilNone("all jobs to end", withinMs, open),
  };
  return queries;
}
