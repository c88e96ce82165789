/** Release N+1, as a proof plays it: today's code that asks for one more migration, which only adds. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { ownFolder } from "../../src/postgres/migration-files.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { schemaVersionOfCode } from "../../src/postgres/schema-version.ts";
import { letPass } from "./until.ts";

const expand = `
alter table belfry.job add column note text;
create table belfry.note (job_id bigint not null, said_at timestamptz not null default now());
create index note_job on belfry.note (job_id);`;

/** What the release's processes have in their environment. */
export const nextRelease = { BELFRY_PROOF_RELEASE: "next" } as const;

/** Brings the tables to N+1 while everything runs. @returns the schema's new version. */
export async function migrateToNext(databaseUrl: string, folder: string): Promise<number> {
  mkdirSync(folder, { recursive: true });
  cpSync(ownFolder, folder, { recursive: true });
  const number = String(schemaVersionOfCode + 1).padStart(4, "0");
  writeFileSync(join(folder, `${number}_expand_notes.sql`), expand);
  return (await migrate({ url: databaseUrl, folder })).version;
}

const lookMs = 20;

/** Watches how long locks are waited for, and how long anybody keeps a table to itself. */
export async function watchLocks(databaseUrl: string): Promise<{ stop(): Promise<number> }> {
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => {});
  await client.connect();
  let longestMs = 0;
  const over = new AbortController();
  const watching = (async () => {
    while (!over.signal.aborted) {
      const { rows } = await client.query<{ ms: number }>(`
        select coalesce(max(extract(epoch from clock_timestamp() - case when l.granted then a.xact_start else l.waitstart end)) * 1000, 0)::float8 as ms
        from pg_locks l join pg_stat_activity a using (pid)
        where not l.granted and a.query not like '%lock-wait%' and l.locktype in ('relation', 'tuple', 'transactionid')
          or (l.granted and l.mode = 'AccessExclusiveLock' and l.locktype = 'relation'
            and l.relation in (select oid from pg_class where relnamespace = 'belfry'::regnamespace))`);
      longestMs = Math.max(longestMs, rows[0]?.ms ?? 0);
      await letPass(lookMs);
    }
  })();
  return {
    async stop() {
      over.abort();
      await watching;
      await client.end();
      return longestMs;
    },
  };
}
