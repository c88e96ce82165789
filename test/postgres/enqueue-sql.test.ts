import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { definitionOf, defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import { writeKinds } from "../../src/insight/kinds.ts";
import { createClient } from "../../src/run/enqueue.ts";
import { createWorker } from "../../src/run/worker.ts";
import { relay } from "../../src/run/relay.ts";
import { acknowledge, world } from "../core/world.ts";
import { testDatabase } from "../support/database.ts";

const payload = z.object({ to: z.email(), size: z.int().max(3).default(1), mode: z.enum(["a", "b"]).optional() });

/** A program of another language: a role of its own, which may call the function and nothing else of Belfry. */
async function caller(url: string): Promise<Client> {
  const role = `shop_of_${new URL(url).pathname.slice(1)}`;
  const owner = new Client({ connectionString: url });
  await owner.connect();
  await owner.query(`create role ${role} login password 'shop'; grant usage on schema belfry to ${role};
    grant execute on function belfry.enqueue to ${role}`);
  const client = new Client({
    connectionString: Object.assign(new URL(url), { username: role, password: "shop" }).href,
  });
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await owner.query(`drop owned by ${role}; drop role ${role}`);
    await owner.end();
  });
  return client;
}

async function system() {
  const db = await testDatabase();
  const ran: unknown[] = [];
  const mail = defineJob({ id: "mail", payload, run: (given) => void ran.push(given) });
  const ping = defineJob({ id: "ping", run: () => void ran.push("ping") });
  const keyed = defineJob({ id: "keyed", payload, key: ({ to }) => to, run() {} });
  const byKey = defineJob({ id: "by-key", payload, concurrency: { perKey: 5, key: ({ to }) => to }, run() {} });
  const graph = defineGraph({ id: "graph", version: 1, tasks: (task) => void task("first", { run: () => 1 }) });
  const known = registry([defineApp({ name: "shop", jobs: [mail, ping, keyed, byKey, graph] })]);
  await db.insight.run(writeKinds, known);
  const ports = world(() => ({ store: db.store }));
  const worker = createWorker(ports, known, { stage: "test", worker: "w", lane: "default" });
  return {
    db,
    ran,
    mail,
    sql: await caller(db.url),
    client: createClient(ports),
    async work() {
      await relay(ports);
      const records = ports.queue.receive("default", 10);
      acknowledge(ports, records, (await worker.handle(records, { remainingMs: () => 600_000 })).failed);
    },
  };
}

const refusal = (sql: Client, text: string, values: readonly unknown[] = []): Promise<string> =>
  sql.query(text, [...values]).then(
    () => "nothing was refused",
    (error: Error & { code?: string }) => `${error.code} ${error.message}`,
  );

test("a job of a transaction that commits runs, one of a transaction that is rolled back was never there", async () => {
  const { db, ran, sql, work } = await system();
  await sql.query(`begin; select belfry.enqueue('mail', '{"to": "no@example.org"}'); rollback`);
  await sql.query(
    `begin; select belfry.enqueue('mail', '{"to": "ada@example.org"}'); select belfry.enqueue('ping'); commit`,
  );
  await work();
  expect(ran).toEqual(expect.arrayContaining([{ to: "ada@example.org", size: 1 }, "ping"]));
  expect(ran).toHaveLength(2);
  expect((await db.store.jobs()).map(({ kind, state }) => `${kind} ${state}`).toSorted()).toEqual([
    "mail SUCCESS",
    "ping SUCCESS",
  ]);
});

test("a key is one job for SQL and the package together, and another payload is refused", async () => {
  const { sql, client, mail } = await system();
  const enqueue = `select belfry.enqueue('mail', $1, key => 'ada', due_at => now() + interval '1 hour') as id`;
  const first = (await sql.query<{ id: string }>(enqueue, ['{"to": "ada@example.org", "size": 2}'])).rows;
  expect((await sql.query(enqueue, ['{"size": 2.0, "to": "ada@example.org"}'])).rows).toEqual(first);
  const same = { payload: { size: 2, to: "ada@example.org" }, key: "ada" };
  expect(await client.enqueue(definitionOf(mail), [same])).toEqual([{ id: first[0]?.id, created: false }]);
  expect(await refusal(sql, enqueue, ['{"to": "bob@example.org"}'])).toBe(
    `23505 key ada of mail already belongs to job ${first[0]?.id}, with another payload`,
  );
});

test.each([
  ["select belfry.enqueue('mial')", "kind mial is not known: deploy the app that defines it first"],
  ["select belfry.enqueue('mail')", "payload is a null: it must be object"],
  [`select belfry.enqueue('mail', '{"size": 1}')`, "payload.to is missing"],
  [`select belfry.enqueue('mail', '{"to": 7}')`, "payload.to is a number: it must be string"],
  [`select belfry.enqueue('mail', '{"to": "a", "size": 4}')`, "payload.size must be at most 3"],
  [`select belfry.enqueue('mail', '{"to": "a", "size": 1.5}')`, "payload.size is a number: it must be integer"],
  [`select belfry.enqueue('mail', '{"to": "a", "mode": "c"}')`, `payload.mode must be one of ["a", "b"]`],
  ["select belfry.enqueue('ping', '{}')", "payload of ping must be null: the kind takes none"],
  ["select belfry.enqueue('ping', key => '')", "key of ping must be 1 to 512 characters; it has 0"],
  ["select belfry.enqueue('ping', due_at => 'infinity')", "due_at of ping must lie between the years 1970 and 9999"],
  [
    `select belfry.enqueue('keyed', '{"to": "a"}')`,
    "kind keyed cannot be enqueued here: its code makes the key from the payload: enqueue by the package or the API",
  ],
  [
    `select belfry.enqueue('by-key', '{"to": "a"}')`,
    "kind by-key cannot be enqueued here: its code makes the key of its cap, rate or limit from the payload: enqueue by the package or the API",
  ],
  [
    "select belfry.enqueue('graph.first')",
    "kind graph.first cannot be enqueued here: it is a task of the graph graph: enqueue that",
  ],
])("%s is refused by name, and nothing is written", async (text, message) => {
  const { db, sql } = await system();
  expect(await refusal(sql, text)).toBe(`22023 ${message}`);
  expect(await db.store.jobs()).toEqual([]);
});

test("the role may enqueue and nothing else, and no other role may", async () => {
  const { db, sql } = await system();
  expect(await refusal(sql, "select from belfry.job")).toMatch(/^42501 /);
  expect(await refusal(sql, "select belfry.payload_fault('{}', '1', 'p'), belfry.next_event()")).toMatch(/^42501 /);
  const { rows } = await db.pool.query(
    "select has_function_privilege('public', 'belfry.enqueue(text, jsonb, text, timestamptz)', 'execute') as may",
  );
  expect(rows).toEqual([{ may: false }]);
});

test("what SQL cannot judge is a clear failure of the job", async () => {
  const { db, sql, work } = await system();
  await sql.query(`select belfry.enqueue('mail', '{"to": "no address"}')`);
  await work();
  expect(await db.store.jobs()).toMatchObject([{ state: "FAILED", errorCode: "INVALID_PAYLOAD" }]);
});
