import { readdirSync, readFileSync } from "node:fs";
import { Client } from "pg";

let made = 0;

/** A fresh database with all tables. @returns its address. */
export async function prepareDatabase(postgresUrl: string, sql: string): Promise<string> {
  const name = `proof_${process.pid}_${++made}`;
  await once(postgresUrl, `create database ${name}`);
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  for (const text of ["create schema if not exists belfry", ...migrations()]) await once(url.href, text);
  if (sql !== "") await once(url.href, sql);
  return url.href;
}

function migrations(): readonly string[] {
  const folder = new URL("../../src/adapters/postgres/migrations/", import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
  return files.toSorted().map((file) => readFileSync(new URL(file, folder), "utf8"));
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
