import { Client } from "pg";
import { expect, test } from "vitest";
import { freshDatabase } from "../support/database.ts";

test("a test that gives a connection back inside a transaction fails at its end", async () => {
  const { pool, close } = await freshDatabase();
  const client = await pool.connect();
  await client.query("begin");
  client.release();
  await expect(close()).rejects.toThrow("inside a transaction");
});

test("a transaction that another connection left open is named, and no test waits for it for ever", async () => {
  const { url, close } = await freshDatabase();
  const other = new Client({ connectionString: url, application_name: "forgotten" });
  await other.connect();
  await other.query("begin");
  await other.query("lock table belfry.job");
  await expect(close()).rejects.toThrow(/in use: .*"forgotten","state":"idle in transaction"/);
  await other.end();
});

test("the next test of a file begins with the first ids, and with the connections of the one before", async () => {
  const pids = [];
  for (let n = 0; n < 2; n += 1) {
    const { pool, close } = await freshDatabase();
    const { rows } = await pool.query("select pg_backend_pid() as pid, nextval('belfry.job_id_seq') as id");
    pids.push(rows[0]);
    await close();
  }
  expect(pids[1]).toEqual(pids[0]);
});
