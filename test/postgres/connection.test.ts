import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { openConnections, type PoolOptions } from "../../src/postgres/connect.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { createPostgresStore } from "../../src/postgres/store.ts";
import { project } from "../support/own-project.ts";
import { readConfig } from "../../src/stage/config.ts";
import { UnknownOutcome } from "../../src/machine/transaction.ts";
import { aJob, insertOne, running, settlementOf, settleOptions, show } from "../contract/store/fixture.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { until } from "../local/until.ts";
import { blankDatabase, freshDatabase, type TestDatabase, otherSession, testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { type CuttingProxy, cuttingProxy } from "./cutting-proxy.ts";

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});

function storeAt(url: string, options: Partial<PoolOptions> = {}) {
  const connections = openConnections({ url, applicationName: "belfry test", ...options });
  opened.push(connections.close);
  return createPostgresStore(connections);
}

describe("a DATABASE_URL that is", () => {
  test.each([
    "",
    "localhost",
    "mysql://u:hunter2@h/db",
    "postgresql://h:5432",
    "postgresql://u:hunter2@h:5432/",
    "postgresql:/u:hunter2@h/db",
    "postgresql://u:hunt%er2@h/db",
    "postgresql://u:hunter2#@h/db",
    "postgresql://u:a@hunter2@h:99999/db",
    "u:hunter2@h/db",
    "mysql://h/db?password=hunter2",
    "jdbc:postgresql://h:5432/db?password=hunter2",
  ])("%j is refused at once, with how to write it and without its password", async (url) => {
    const refused = "write postgresql://user:password@host:port/database";
    expect(() => openConnections({ url, applicationName: "t" })).toThrow(refused);
    expect(() => openConnections({ url, applicationName: "t" })).not.toThrow(/hunt|er2/);
    await expect(migrate({ url })).rejects.toThrow(refused);
    expect(() => readConfig({ DATABASE_URL: url, AWS_REGION: "eu-west-1" }, project)).toThrow(
      "postgresql://user:password@host",
    );
    expect(() => readConfig({ DATABASE_URL: url, AWS_REGION: "eu-west-1" }, project)).not.toThrow(/hunt|er2/);
  });

  test.each(["prefer", "no-verify", "Disable", "reqiure", ""])(
    "with sslmode=%s is refused with those there are",
    async (mode) => {
      const url = `postgresql://u:hunter2@h:5432/db?sslmode=${mode}`;
      const rule = `sslmode "${mode}": write disable, require, verify-ca or verify-full`;
      expect(() => openConnections({ url, applicationName: "t" })).toThrow(rule);
      expect(() => openConnections({ url, applicationName: "t" })).not.toThrow(/hunter/);
      await expect(migrate({ url })).rejects.toThrow(rule);
      expect(() => readConfig({ DATABASE_URL: url, AWS_REGION: "eu-west-1" }, project)).toThrow(rule);
    },
  );

  test.each(["disable", "require", "verify-ca", "verify-full"])("with sslmode=%s is taken", (mode) => {
    const DATABASE_URL = `postgresql://u:hunter2@h:5432/db?sslmode=${mode}`;
    expect(readConfig({ DATABASE_URL, AWS_REGION: "eu-west-1" }, project).databaseUrl).toBe(DATABASE_URL);
  });

  test("right but with a closed port: says where and what to check", async () => {
    const port = await freePort();
    const store = storeAt(`postgresql://u:secret@127.0.0.1:${port}/db`);
    const failure = store.now().catch((error: Error) => error.message);
    expect(await failure).toMatch(`cannot use Postgres at 127.0.0.1:${port}/db`);
    expect(await failure).toMatch("is it running");
    expect(await failure).not.toMatch("secret");
  });

  test("of a database that does not exist: says so", async () => {
    const url = new URL(inject("postgresUrl"));
    url.pathname = "/belfry_nowhere";
    await expect(storeAt(url.href).now()).rejects.toThrow("the database does not exist");
  });

  test("of a database without tables: says what to run", async () => {
    const { url, close } = await blankDatabase();
    await expect(storeAt(url).schedules()).rejects.toThrow("run `npx belfry migrate`");
    await opened.pop()?.();
    await close();
  });
});

describe("a connection that breaks", () => {
  let db: TestDatabase;
  let proxy: CuttingProxy;
  beforeEach(async () => {
    db = await freshDatabase();
    proxy = await cuttingProxy(db.url);
  });
  afterEach(async () => {
    for (const close of opened.splice(0)) await close();
    await proxy.close();
    await db.close();
  });

  /** A transaction that inserts a job, and whose connection is cut at its commit. */
  const inserted = (...cut: Parameters<CuttingProxy["cutNext"]>) => {
    const store = storeAt(proxy.url);
    return store.transaction(async (tx) => {
      proxy.cutNext(...cut);
      return await store.insert([aJob()], { tx });
    });
  };

  test.each([
    ["the transaction's value is answered, since another connection knows", 0],
    ["and cannot be opened again at first: the commit is asked about until the server answers", 3],
  ])("after a COMMIT that got through: %s", async (_, refuses) => {
    const [row] = (await inserted("after-commit", { refuses })).results;
    expect((await show(db.store, row?.id ?? raise())).job.state).toBe("QUEUED");
  });

  test("before the COMMIT got through: says that nothing happened", async () => {
    await expect(inserted("before-commit")).rejects.toThrow("the transaction was rolled back");
    expect(await db.store.jobs()).toEqual([]);
  });

  test("and stays broken, so that the outcome stays unknown: UnknownOutcome", async () => {
    await expect(inserted("after-commit", { refuses: Infinity })).rejects.toThrow(UnknownOutcome);
  });

  test("in the middle of a statement: UnknownOutcome, and the next statement has a connection again", async () => {
    const { store, pool } = db;
    const held = await running(store);
    const other = await pool.connect();
    await other.query("begin");
    await other.query("select 1 from belfry.job where id = $1 for no key update", [held.jobId]);
    const settle = store.settle([settlementOf(held)], settleOptions);
    const end =
      "select pg_terminate_backend(pid) from pg_stat_activity where query like '/* belfry:settle-success *%' and state = 'active' and datname = current_database()";
    const ended = endOnce(() => pool.query(end));
    await expect(settle).rejects.toThrow(UnknownOutcome);
    await ended;
    await other.query("rollback");
    other.release();
    expect((await store.settle([settlementOf(held)], settleOptions)).settled).toEqual([held.jobId]);
  });

  test("while idle: nothing is thrown, and the next statement has a connection again", async () => {
    await insertOne(db.store);
    await db.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'belfry test' and datname = current_database()",
    );
    await until("the pool to notice", () => db.connections.main.totalCount === 0);
    expect(await db.store.jobs()).toHaveLength(1);
  });
});

describe("a transaction", () => {
  const db = eachTest(() => testDatabase());

  test("that is abandoned gives its connection back, although its statement never ends", async () => {
    const store = storeAt(db.url, { txConnections: 1 });
    const left = new AbortController();
    const begun = Promise.withResolvers<void>();
    const stuck = store.transaction(
      async (tx) => {
        begun.resolve();
        await tx.query("select pg_sleep(600)");
      },
      { abandoned: left.signal },
    );
    await begun.promise;
    left.abort();
    await expect(stuck).rejects.toThrow(/broke and the transaction was rolled back/);
    expect(await store.transaction(async (tx) => (await tx.query("select 1 as one")).rows)).toEqual([{ one: 1 }]);
    // The server does not look whether anybody is there, and an open transaction holds back what every other test reads.
    const ended =
      "select pg_terminate_backend(pid) as ended from pg_stat_activity where query = 'select pg_sleep(600)'";
    await expect.poll(async () => (await db.pool.query(ended)).rows).toEqual([{ ended: true }]);
  });

  test("whose statement failed and whose error was swallowed is not answered as committed", async () => {
    const broken = db.store.transaction(async (tx) => {
      await db.store.insert([aJob()], { tx });
      await tx.query("select no_such_column").catch(() => {});
    });
    await expect(broken).rejects.toThrow("nothing of it was kept");
    expect(await db.store.jobs()).toEqual([]);
  });

  test("is READ COMMITTED, whatever the database's default", async () => {
    await db.pool.query("select 1");
    const level = await db.store.transaction(async (tx) => (await tx.query("show transaction_isolation")).rows[0]);
    expect(level).toEqual({ transaction_isolation: "read committed" });
  });

  test("of the caller's own plain client carries an enqueue: rolled back means no job", async () => {
    const client = await otherSession(db.pool);
    const { results } = await db.store.insert([aJob()], { tx: client });
    await client.query("rollback");
    expect(await db.store.job(results[0]?.id ?? raise()))?.toBeNull();
  });

  test("that is long does not keep a heartbeat waiting, since handlers have connections of their own", async () => {
    const few = storeAt(db.url, { connections: 1, txConnections: 1 });
    const held = await running(few);
    await few.transaction(async () => {
      expect(await few.heartbeat([held], "worker-1")).toEqual([{ jobId: held.jobId, attempt: 1 }]);
    });
    await opened.pop()?.();
  });
});

/** Repeats until the statement to be ended had begun. */
async function endOnce(end: () => Promise<{ rowCount: number | null }>): Promise<void> {
  for (let tries = 0; tries < 1_000; tries += 1) if (((await end()).rowCount ?? 0) > 0) return;
}

function raise(): never {
  throw new Error("one job was inserted");
}
