import { Client } from "pg";
import { migrate } from "../../src/adapters/postgres/migrate.ts";

let made = 0;

/** A fresh database with all tables. @returns its address. */
export async function prepareDatabase(postgresUrl: string, sql: string): Promise<string> {
  const name = `proof_${process.pid}_${++made}`;
  await once(postgresUrl, `create database ${name}`);
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  await migrate({ url: url.href });
  if (sql !== "") await once(url.href, sql);
  return url.href;
}

async function once(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
