import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { grantOwnRows } from "../../src/postgres/access.ts";
import { openConnections } from "../../src/postgres/connect.ts";
import { assertSchema, assertServer } from "../../src/postgres/schema-version.ts";
import { testStore } from "../support/looks.ts";
import { testDatabase } from "../support/database.ts";
import { archiveTour } from "./archive-tour.ts";
import { operationsTour } from "./operations-tour.ts";
import { tour } from "./tour.ts";

/** Nothing of which a process does. */
const refused = [
  "drop table belfry.job",
  "truncate belfry.job",
  "alter table belfry.job disable trigger all",
  "create or replace function belfry.guard_job() returns trigger language plpgsql as 'begin return new; end'",
  "insert into belfry.migration (set, number, name, checksum) values ('belfry', 99, 'x', 'x')",
  "select belfry.drop_partition('job', '20200101')",
  "select belfry.drop_partition('event', 'rest')",
  "select belfry.make_partition('event', '20200101_mine')",
  "select belfry.drop_partition('event', 'my_20200101')",
  "create table belfry.mine (n int)",
  "drop table shop.sale",
  "update belfry.audit set caller = 'eve'",
  "delete from belfry.audit",
];

/** A database whose processes connect as a role that owns nothing, as on RDS; an app has tables there too. */
async function restricted() {
  const db = await testDatabase({ own: true });
  const role = `app_of_${new URL(db.url).pathname.slice(1)}`;
  await db.pool.query(`create role ${role} login password 'app'`);
  await db.pool.query(`create schema shop; create table shop.sale (n bigint generated always as identity, cents int)`);
  // The test's clock is a table as well.
  await db.clock.advance(0);
  await grantOwnRows({ url: db.url }, role);
  const url = new URL(db.url);
  Object.assign(url, { username: role, password: "app" });
  const connections = openConnections({ url: url.href, applicationName: "restricted", connections: 2 });
  const pool = new Pool({ connectionString: url.href, max: 1 });
  pool.on("error", () => {});
  onTestFinished(async () => {
    await Promise.all([connections.close(), pool.end()]);
    await db.pool.query(`drop owned by ${role}; drop role ${role}`);
  });
  return { db, connections, pool };
}

test("the processes' role can do everything that workers, schedulers and the API do", async () => {
  const { db, connections, pool } = await restricted();
  const { rows } = await pool.query<{ user: string; owns: boolean }>(
    `select current_user as user, exists (select from pg_class where relowner = current_user::regrole) as owns`,
  );
  expect(rows).toMatchObject([{ owns: false }]);
  await assertServer(connections.main);
  await assertSchema(connections.main);
  await tour(testStore(connections), db.clock, "restricted");
  await operationsTour(connections);
  await archiveTour(connections);
  await pool.query("insert into shop.sale (cents) values (1)");
  // A handler's transaction may enqueue in SQL; the refusal is the function's own.
  await expect(pool.query("select belfry.enqueue('unheard-of')")).rejects.toMatchObject({ code: "22023" });
  // The scheduler's prune makes and drops days.
  const made = await pool.query("select belfry.make_partition('event', '20200101') as made");
  expect(made.rows).toEqual([{ made: true }]);
  await pool.query("select belfry.drop_partition('event', '20200101')");
  const left = await pool.query("select to_regclass('belfry.event_20200101') as name");
  expect(left.rows).toEqual([{ name: null }]);
});

test("and it changes no table, no function and no ledger, its own database's or an app's", async () => {
  const { pool } = await restricted();
  for (const statement of refused) {
    const answer = await pool.query(statement).catch((error: unknown) => error);
    expect({ statement, answer }).toMatchObject({ statement, answer: { code: "42501" } });
  }
});
