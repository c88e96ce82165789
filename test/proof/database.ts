import { Client } from "pg";
import { migrate } from "../../src/postgres/migrate.ts";

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
export async function sql<R = Record<string, unknown>>(url: string, text: string): Promise<readonly R[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    const answer = (await client.query(text)) as unknown as { rows: R[] } | { rows: R[] }[];
    return Array.isArray(answer) ? (answer.at(-1)?.rows ?? []) : answer.rows;
  } finally {
    await client.end();
  }
}
