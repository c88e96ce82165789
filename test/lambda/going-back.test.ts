import { mkdtempSync, rmSync, writeFileSync, mkdirSync, cpSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/migrate.ts";
import { ownFolder } from "../../src/postgres/migration-files.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { schemaVersionOfCode } from "../../src/postgres/schema-version.ts";
import { blankDatabase } from "../support/database.ts";

/** The function of the release that runs now, called as CloudFormation calls it; newer releases are played by their files. */
let database: Awaited<ReturnType<typeof blankDatabase>>;
let folder: string;

beforeEach(async () => {
  database = await blankDatabase();
  folder = mkdtempSync(join(tmpdir(), "belfry-back-"));
  mkdirSync(join(folder, "sql"));
  writeFileSync(join(folder, "sql", "0001_first.sql"), "create schema shop; create table shop.item (id int)");
  const define = new URL("../../src/define/define-app.ts", import.meta.url).href;
  writeFileSync(
    join(folder, "apps.mjs"),
    `import { defineApp } from "${define}";
     export default [defineApp({ name: "shop", migrations: new URL("./sql/", import.meta.url) })];`,
  );
  vi.stubEnv("DATABASE_URL", database.url);
  vi.stubEnv("AWS_ENDPOINT_URL", "http://127.0.0.1:9");
  vi.stubEnv("BELFRY_STAGE", "emulator");
  vi.stubEnv("BELFRY_LOG_LEVEL", "error");
  vi.stubEnv("BELFRY_APPS", pathToFileURL(join(folder, "apps.mjs")).href);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await database.close();
  rmSync(folder, { recursive: true });
});

const number = (n: number): string => String(schemaVersionOfCode + n).padStart(4, "0");

/** What CloudFormation sends; in a rollback the same, with the releases the other way round, and nothing says so. */
const update = (from: string, to: string) => ({
  RequestType: "Update" as const,
  PhysicalResourceId: "belfry-migration",
  ResourceProperties: { ServiceToken: "arn:provider", Release: to },
  OldResourceProperties: { ServiceToken: "arn:provider", Release: from },
});

async function newerRelease(own: readonly string[], ofShop: readonly string[]): Promise<void> {
  const newer = join(folder, "newer");
  cpSync(ownFolder, newer, { recursive: true });
  for (const name of own) writeFileSync(join(newer, name), "select 1");
  await migrate({ url: database.url, folder: newer });
  for (const name of ofShop) writeFileSync(join(folder, "sql", name), "alter table shop.item add column name text");
  await migrate({ url: database.url, app: "shop", folder: join(folder, "sql") });
  for (const name of ofShop) rmSync(join(folder, "sql", name));
}

async function applied(): Promise<readonly string[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      "select set || ' ' || name as name from belfry.migration where number > $1 or set = 'shop' order by set, number",
      [schemaVersionOfCode],
    );
    return rows.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

test("a rollback gives the old release an Update after the new one's migration, and it succeeds and takes nothing back", async () => {
  expect(await handler({ RequestType: "Create" })).toMatchObject({ PhysicalResourceId: "belfry-migration" });
  await newerRelease([`${number(1)}_expand_note.sql`], ["0002_expand_name.sql"]);
  expect(await handler(update("new", "old"))).toEqual({
    PhysicalResourceId: "belfry-migration",
    Data: { Version: String(schemaVersionOfCode + 1), Schedules: "0" },
  });
  const after = [`belfry ${number(1)}_expand_note.sql`, "shop 0001_first.sql", "shop 0002_expand_name.sql"];
  expect(await applied()).toEqual(after);
  // The new release comes again, with the same files, and so does the old one.
  await newerRelease([`${number(1)}_expand_note.sql`], ["0002_expand_name.sql"]);
  await handler(update("new", "old"));
  expect(await applied()).toEqual(after);
});

test("an app whose newer file does more than expand keeps the old release out, with what to do", async () => {
  await handler({ RequestType: "Create" });
  await newerRelease([], ["0002_rename.sql"]);
  await expect(handler(update("new", "old"))).rejects.toThrow(
    /version 2 of shop, this code knows 1: deploy the newer code.*NNNN_expand_/,
  );
});

test("an operator who restored a copy of the disks says so by hand, and a new epoch begins", async () => {
  await handler({ RequestType: "Create" });
  const epochs = async () => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<{ count: number }>("select count(*)::int as count from belfry.epoch");
    await client.end();
    return rows[0]?.count ?? 0;
  };
  const before = await epochs();
  await handler(update("same", "same"));
  expect(await epochs()).toBe(before);
  await handler({ RequestType: "Update", Restored: true });
  expect(await epochs()).toBe(before + 1);
});

test("a deleted stack leaves the tables, and a rollback of its first deployment needs no database", async () => {
  await handler({ RequestType: "Create" });
  vi.stubEnv("DATABASE_URL", "postgresql://127.0.0.1:1/gone");
  expect(await handler({ ...update("new", "old"), RequestType: "Delete" })).toEqual({
    PhysicalResourceId: "belfry-migration",
  });
  expect(await applied()).toEqual(["shop 0001_first.sql"]);
});
