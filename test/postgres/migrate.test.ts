import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { migrate } from "../../src/postgres/migrate.ts";
import { assertSchema, assertServer, schemaVersion, schemaVersionOfCode } from "../../src/postgres/schema-version.ts";
import { migrationFiles, ownFolder } from "../../src/postgres/migration-files.ts";
import { freshFolder } from "../local/folder.ts";
import { dumpSchema } from "../support/schema-dump.ts";
import { blankDatabase } from "../support/database.ts";

let database: { url: string; close: () => Promise<void> };
let client: Client;
let folder: string;

beforeEach(async () => {
  database = await blankDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  folder = freshFolder();
});

afterEach(async () => {
  await client.end();
  await database.close();
});

const file = (name: string, sql: string): void => writeFileSync(join(folder, name), sql);
/** The number of a file that this code does not know. */
const next = (n: number): string => String(schemaVersionOfCode + n).padStart(4, "0");
const shop = () => migrate({ url: database.url, app: "shop", folder });

describe("migrate", () => {
  test("makes the tables once, and a second run finds nothing to do", async () => {
    const names = migrationFiles(ownFolder).map(({ name }) => name);
    expect((await migrate({ url: database.url })).applied).toEqual(names);
    expect(await migrate({ url: database.url })).toEqual({
      applied: [],
      version: names.length,
      newer: [],
      epoch: null,
    });
    expect(await schemaVersion(client)).toBe(names.length);
    await assertSchema(client);
  });

  test("the schema it makes is the one checked in", async () => {
    await migrate({ url: database.url });
    await expect(await dumpSchema(client)).toMatchFileSnapshot("../../src/postgres/schema.txt");
  });

  test("makes partitions for today and the next days, so that no event lies in the default one", async () => {
    await migrate({ url: database.url });
    const { rows } = await client.query(
      "select count(*)::int as days from pg_class where relname ~ '^event_[0-9]{8}$'",
    );
    expect(rows).toEqual([{ days: 8 }]);
  });

  test("applies an app's own files under the app's name, in order", async () => {
    file("0001_first.sql", "create schema shop; create table shop.item (id int)");
    file("0002_second.sql", "alter table shop.item add column name text");
    expect((await shop()).applied).toEqual(["0001_first.sql", "0002_second.sql"]);
    const { rows } = await client.query("select set, number from belfry.migration order by number");
    expect(rows).toEqual([
      { set: "shop", number: 1 },
      { set: "shop", number: 2 },
    ]);
    await client.query("select id, name from shop.item");
  });

  test("four runners at once apply each file once", async () => {
    const runs = await Promise.all([1, 2, 3, 4].map(() => migrate({ url: database.url })));
    expect(runs.flatMap((run) => run.applied)).toEqual(migrationFiles(ownFolder).map(({ name }) => name));
  });

  test("a file that fails leaves nothing of itself, and what was applied before stays", async () => {
    file("0001_first.sql", "create schema shop");
    file("0002_broken.sql", "create table shop.half (id int); select no_such_column");
    await expect(shop()).rejects.toThrow('migration "0002_broken.sql" of shop failed with 42703');
    const { rows } = await client.query(
      "select to_regclass('shop.half') as half, count(*)::int as applied from belfry.migration",
    );
    expect(rows).toEqual([{ half: null, applied: 1 }]);
  });
});

describe("migrate refuses", () => {
  beforeEach(async () => {
    file("0001_first.sql", "create schema shop");
    file("0002_second.sql", "create table shop.item (id int)");
    await shop();
  });

  test("a file that was edited after it was applied", async () => {
    file("0001_first.sql", "create schema shop; -- edited");
    await expect(shop()).rejects.toThrow('"0001_first.sql" of shop was edited after it was applied');
  });

  test("a file that was renamed or replaced", async () => {
    rmSync(join(folder, "0002_second.sql"));
    file("0002_other.sql", "create table shop.item (id int)");
    await expect(shop()).rejects.toThrow(
      '"0002_second.sql" of shop was applied to this database but its file is missing',
    );
  });

  test("a gap in the numbers", async () => {
    rmSync(join(folder, "0001_first.sql"));
    await expect(shop()).rejects.toThrow("migration 1 is missing");
  });

  test("two files with one number", async () => {
    file("0002_too.sql", "select 1");
    await expect(shop()).rejects.toThrow('"0002_second.sql" and "0002_too.sql"');
  });

  test("a file with another kind of name", async () => {
    file("3-third.sql", "select 1");
    await expect(shop()).rejects.toThrow('"3-third.sql"');
  });

  test("a database that is newer than the code, before it applies anything", async () => {
    rmSync(join(folder, "0002_second.sql"));
    await expect(shop()).rejects.toThrow(
      "the database is at schema version 2 of shop, this code knows 1: deploy the newer code",
    );
  });

  test("a database of which one newer file expands the tables and another one does not", async () => {
    file("0003_expand_third.sql", "alter table shop.item add column name text");
    file("0004_contract.sql", "alter table shop.item drop column id");
    await shop();
    for (const name of ["0003_expand_third.sql", "0004_contract.sql"]) rmSync(join(folder, name));
    await expect(shop()).rejects.toThrow("schema version 4 of shop, this code knows 2");
  });
});

describe("a release that goes back", () => {
  const older = (set: "belfry" | "shop") =>
    set === "belfry" ? migrate({ url: database.url }) : migrate({ url: database.url, app: "shop", folder });

  test("finds a database that a newer one has only expanded, and leaves it: Belfry's own files", async () => {
    cpSync(ownFolder, folder, { recursive: true });
    file(`${next(1)}_expand_future.sql`, "create table belfry.future (id int)");
    await migrate({ url: database.url, folder });
    const again = {
      applied: [],
      version: schemaVersionOfCode + 1,
      newer: [`${next(1)}_expand_future.sql`],
      epoch: null,
    };
    expect(await older("belfry")).toEqual(again);
    // And the newer one comes again, with what it had applied already.
    expect(await migrate({ url: database.url, folder })).toMatchObject({ applied: [], newer: [] });
  });

  test("and an app's files, also where the second of two had failed", async () => {
    file("0001_first.sql", "create schema shop");
    await shop();
    file("0002_expand_second.sql", "create table shop.item (id int)");
    file("0003_expand_third.sql", "select no_such_column");
    await expect(shop()).rejects.toThrow("0003_expand_third.sql");
    for (const name of ["0002_expand_second.sql", "0003_expand_third.sql"]) rmSync(join(folder, name));
    expect(await older("shop")).toEqual({ applied: [], version: 2, newer: ["0002_expand_second.sql"], epoch: null });
  });

  test("is refused when a file that it knows was edited, whatever came after it", async () => {
    file("0001_first.sql", "create schema shop");
    file("0002_expand_second.sql", "create table shop.item (id int)");
    await shop();
    rmSync(join(folder, "0002_expand_second.sql"));
    file("0001_first.sql", "create schema shop; -- edited");
    await expect(older("shop")).rejects.toThrow("was edited after it was applied");
  });
});

describe("the schema version", () => {
  test("of a database without tables is 0, and starting on it is refused with what to run", async () => {
    expect(await schemaVersion(client)).toBe(0);
    await expect(assertSchema(client)).rejects.toThrow("run `npx belfry migrate`");
  });

  test("in code is that of the newest file", () => {
    expect(migrationFiles(ownFolder).length).toBe(schemaVersionOfCode);
  });

  test("above the code's is accepted only when all of the newer files expand the tables", async () => {
    cpSync(ownFolder, folder, { recursive: true });
    file(`${next(1)}_expand_future.sql`, "select 1");
    await migrate({ url: database.url, folder });
    await assertSchema(client);
    file(`${next(2)}_contract_future.sql`, "select 1");
    await migrate({ url: database.url, folder });
    await expect(assertSchema(client)).rejects.toThrow(
      `the database is at schema version ${schemaVersionOfCode + 2} of belfry, this code knows ${schemaVersionOfCode}`,
    );
  });
});

describe("the server", () => {
  test("that would lose committed jobs in a crash is refused, unless the caller accepts it", async () => {
    await client.query("set synchronous_commit = off");
    await expect(assertServer(client, {})).rejects.toThrow("synchronous_commit is off");
    await assertServer(client, { allowLosingCommits: true });
    await client.query("set synchronous_commit = on");
    await assertServer(client, {});
  });

  test("that is read-only is refused", async () => {
    await client.query("set default_transaction_read_only = on");
    await expect(assertServer(client, { allowLosingCommits: true })).rejects.toThrow("use the writer endpoint");
  });
});
