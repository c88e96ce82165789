import { Client } from "pg";
import { migrateTemplate, startThrowawayServer } from "../support/postgres-server.ts";

export interface Database {
  readonly url: string;
  /** Whether Postgres plans the text on migrated tables. */
  isValid(text: string): Promise<boolean>;
  /** What a killed session left: its template and the copies of it. */
  dropLeftovers(pid: number): Promise<void>;
  close(): Promise<void>;
}

/** One server for all sessions, and a migrated database to prepare texts on. */
export async function openDatabase(): Promise<Database> {
  const server = await startThrowawayServer();
  const admin = await connected(server.url);
  await admin.query("create database mutants");
  const url = new URL(server.url);
  url.pathname = "/mutants";
  await migrateTemplate(url.href);
  const client = await connected(url.href);
  let prepared = 0;
  return {
    url: server.url,
    async isValid(text) {
      const name = `mutant_${(prepared += 1)}`;
      try {
        await client.query(`prepare ${name} as ${text}`);
        await client.query(`deallocate ${name}`);
        return true;
      } catch {
        return false;
      }
    },
    async dropLeftovers(pid) {
      const { rows } = await admin.query<{ datname: string }>(
        "select datname from pg_database where starts_with(datname, $1)",
        [`belfry_template_${pid}_`],
      );
      for (const { datname } of rows) await admin.query(`drop database ${datname} with (force)`);
    },
    async close() {
      await client.end();
      await admin.end();
      await server.stop();
    },
  };
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}
