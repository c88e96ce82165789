import { expect, test } from "vitest";
import { definitionOf, defineJob } from "../../src/define/define-job.ts";
import { createClient } from "../../src/run/enqueue.ts";
import { world } from "../core/world.ts";
import { testDatabase } from "../support/database.ts";

const mail = definitionOf(defineJob({ id: "mail", run() {} }));
const report = definitionOf(defineJob({ id: "report", run() {} }));

/** Every key of this database has one hash. */
async function collidingClient() {
  const db = await testDatabase();
  await db.pool.query(`create or replace function belfry.key_hash(kind text, key text) returns bigint
    language sql immutable parallel safe return 1 + 0 * length(kind || key)`);
  await db.pool.query("reindex index belfry.job_key");
  const client = createClient(world(() => ({ store: db.store })));
  return { db, client };
}

test("a key whose hash another key has is refused by name, and is never answered as that job", async () => {
  const { db, client } = await collidingClient();
  const [first] = await client.enqueue(mail, [{ payload: undefined, key: "a" }]);
  const refused = /^key "b" of "mail" already belongs to job \d+ .* or its place in the index has another key/;
  await expect(client.enqueue(mail, [{ payload: undefined, key: "b" }])).rejects.toThrow(refused);
  await expect(client.enqueue(report, [{ payload: undefined, key: "a" }])).rejects.toThrow(/key "a" of "report"/);
  expect(await client.enqueue(mail, [{ payload: undefined, key: "a" }])).toEqual([{ id: first?.id, created: false }]);
  const { rows } = await db.pool.query("select kind, key from belfry.job");
  expect(rows).toEqual([{ kind: "mail", key: "a" }]);
});

test("of two keys with one hash in a call, one job is written and the call is refused", async () => {
  const { db, client } = await collidingClient();
  const items = ["a", "b"].map((key) => ({ payload: undefined, key }));
  await expect(client.enqueue(mail, items)).rejects.toThrow(/key "b" of "mail"/);
  const { rows } = await db.pool.query("select key from belfry.job");
  expect(rows).toEqual([{ key: "a" }]);
});
