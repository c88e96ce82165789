import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { execute } from "../../src/adapters/postgres/statement.ts";
import { type Begun, beginTransaction, transactionStatus } from "../../src/adapters/postgres/sql/transaction.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";

const folder = mkdtempSync(join(tmpdir(), "belfry-xid-"));
const port = await freePort();

async function connected({ url }: RunningPostgres): Promise<Client> {
  const client = new Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}

async function begin(client: Client): Promise<Begun> {
  const [, answer] = (await client.query(beginTransaction.text)) as unknown as { rows: Begun[] }[];
  const [begun] = answer?.rows ?? [];
  if (begun === undefined) throw new Error("begin answered nothing");
  return begun;
}

const statusOf = async (client: Client, { xid, at }: Begun): Promise<string | null | undefined> =>
  (await execute(client, transactionStatus, [xid, at]))[0]?.status;

test("a transaction that a crash lost is never called committed because of the one that has its id now", async () => {
  const first = await startPostgres({ folder, port });
  const before = await connected(first);
  await before.query("create table t (n int)");
  const kept = await begin(before);
  await before.query("insert into t values (1)");
  await before.query("commit");
  expect(await statusOf(before, kept)).toBe("committed");
  const rolledBack = await begin(before);
  await before.query("rollback");
  const lost = await begin(before);
  await before.query("insert into t values (2)");
  first.kill();
  await first.exited;
  const second = await startPostgres({ folder, port });
  onTestFinished(async () => {
    await second.stop("immediate");
    for (const each of [second.dataFolder, folder]) rmSync(each, { recursive: true, force: true });
  });
  const after = await connected(second);
  const ids: string[] = [];
  do {
    ids.push((await begin(after)).xid);
    await after.query("commit");
  } while (Number(ids.at(-1)) < Number(lost.xid));
  expect(ids).toContain(lost.xid);
  expect(await statusOf(after, lost)).toBeNull();
  expect(await statusOf(after, kept)).toBe("committed");
  expect([null, "aborted"]).toContain(await statusOf(after, rolledBack));
  await after.end();
});
