import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createPostgresStore } from "../../src/postgres/store.ts";
import { openConnections } from "../../src/postgres/connect.ts";
import { confirmWhole } from "../../src/postgres/sql/relay.ts";
import { execute } from "../../src/postgres/statement.ts";
import { aJob } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";

/** Durable commits, as in production; the server of the tests has none. One connection serves every statement. */
async function durable() {
  const db = await testDatabase({ own: true });
  await db.pool.query(
    "do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$",
  );
  const connections = openConnections({ url: db.url, applicationName: "quick", connections: 1, txConnections: 1 });
  const settings: string[] = [];
  connections.main.on("connect", (client) => {
    const send = client.query.bind(client) as (...of: unknown[]) => Promise<unknown>;
    const watched = async (...of: unknown[]): Promise<unknown> => {
      const answer = await send(...of);
      const { rows } = (await send("show synchronous_commit")) as { rows: { synchronous_commit: string }[] };
      settings.push(rows[0]?.synchronous_commit ?? "none");
      return answer;
    };
    Object.assign(client, { query: watched });
  });
  onTestFinished(() => connections.close());
  return { store: createPostgresStore(connections), settings, url: db.url };
}

test("a confirmation does not wait for the disk, and every later commit of its connection does", async () => {
  const { store, settings, url } = await durable();
  const { aftermath } = await store.insert([aJob()]);
  const ids = aftermath.outbox.map(({ id }) => id);
  expect(ids).toHaveLength(1);
  settings.length = 0;
  await store.confirm(ids.map((id) => ({ id, failed: [] })));
  await store.insert([aJob()]);
  expect(settings.length).toBeGreaterThan(1);
  expect(new Set(settings)).toEqual(new Set(["on"]));
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const { rows } = await client.query("select id::text from belfry.outbox where id = any($1)", [ids]);
  expect(rows).toEqual([]);
});

test("the statement of a confirmation asks for a quick commit of its own transaction", async () => {
  const { url } = await durable();
  const client = new Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  const setting = async (): Promise<unknown> => (await client.query("show synchronous_commit")).rows;
  await client.query("begin");
  await execute(client, confirmWhole, [["1"]]);
  expect(await setting()).toEqual([{ synchronous_commit: "off" }]);
  await client.query("commit");
  expect(await setting()).toEqual([{ synchronous_commit: "on" }]);
});
