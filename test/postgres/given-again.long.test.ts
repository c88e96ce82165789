import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { execute } from "../../src/postgres/statement.ts";
import { type Begun, beginTransaction, transactionStatus } from "../../src/postgres/sql/transaction.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";
import { until } from "../proof/until.ts";

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

const statusOf = async (client: Client, { xid, at, server }: Begun): Promise<string | null | undefined> =>
  (await execute(client, transactionStatus, [xid, at, server]))[0]?.status;

/** One committed, one rolled back, and one that the crash will lose. */
async function threeTransactions(client: Client): Promise<Readonly<Record<"kept" | "rolledBack" | "lost", Begun>>> {
  await client.query("create table t (n int)");
  const kept = await begin(client);
  await client.query("insert into t values (1)");
  await client.query("commit");
  const rolledBack = await begin(client);
  await client.query("rollback");
  expect(await statusOf(client, kept)).toBe("committed");
  expect(await statusOf(client, rolledBack)).toBe("aborted");
  const lost = await begin(client);
  await client.query("insert into t values (2)");
  return { kept, rolledBack, lost };
}

async function giveAgain(client: Client, lost: Begun): Promise<void> {
  const ids: string[] = [];
  do {
    ids.push((await begin(client)).xid);
    await client.query("insert into t values (3)");
    await client.query("commit");
  } while (Number(ids.at(-1)) < Number(lost.xid));
  expect(ids).toContain(lost.xid);
}

/** @returns null while the server is that of `begun`, or takes no connection. */
async function connectedSince(server: RunningPostgres, begun: Begun): Promise<Client | null> {
  const client = await connected(server).catch(() => null);
  if (client === null) return null;
  const status = await statusOf(client, begun).catch(() => undefined);
  if (status === null) return client;
  await client.end().catch(() => {});
  return null;
}

async function openFolder() {
  const folder = mkdtempSync(join(tmpdir(), "belfry-xid-"));
  const port = await freePort();
  const opened: RunningPostgres[] = [];
  onTestFinished(async () => {
    await opened.at(-1)?.stop("immediate");
    for (const each of [opened[0]?.dataFolder, folder])
      if (each !== undefined) rmSync(each, { recursive: true, force: true });
  });
  return async () => {
    opened.push(await startPostgres({ folder, port }));
    return opened.at(-1) as RunningPostgres;
  };
}

test("after one crash, and after one more, no transaction is taken for the one that has its id now", async () => {
  const start = await openFolder();
  const first = await start();
  const before = await threeTransactions(await connected(first));
  for (let server = first, crash = 0; crash < 2; crash += 1) {
    server.kill();
    await server.exited;
    server = await start();
    const after = await connected(server);
    if (crash === 0) await giveAgain(after, before.lost);
    for (const begun of Object.values(before)) expect(await statusOf(after, begun)).toBeNull();
    const own = await begin(after);
    await after.query("commit");
    expect(await statusOf(after, own)).toBe("committed");
    await after.end();
  }
});

test("a server that recovers from the crash of one backend, without a new start, gives ids again too", async () => {
  const start = await openFolder();
  const server = await start();
  const client = await connected(server);
  const before = await threeTransactions(client);
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  process.kill(rows[0]?.pid ?? 0, "SIGKILL");
  // The server takes connections until it has noticed the crash, and then closes them.
  const after = await until("the server to recover", 30_000, () => connectedSince(server, before.lost));
  await giveAgain(after, before.lost);
  expect(await statusOf(after, before.kept)).toBeNull();
  expect(await statusOf(after, before.lost)).toBeNull();
  await after.end();
});
