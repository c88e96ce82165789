import { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DatabaseUnavailable } from "../../src/postgres/failure.ts";
import { createSession, type Session } from "../../src/postgres/session.ts";
import { statement } from "../../src/postgres/statement.ts";
import { testDatabase, type TestDatabase } from "../support/database.ts";

const keep = statement("test-keep")("insert into belfry.quarantine (at, lane, body) values (belfry.now(), 'a', $1)");
const kept = async ({ pool }: TestDatabase): Promise<readonly unknown[]> =>
  (await pool.query("select body from belfry.quarantine order by id")).rows.map((row: { body: string }) => row.body);

describe("a transaction of the store", () => {
  let db: TestDatabase;
  let pool: Pool;
  let session: Session;
  beforeEach(async () => {
    db = await testDatabase();
    pool = new Pool({ connectionString: db.url, max: 1, query_timeout: 1_500 });
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    session = createSession(pool, "here");
  });
  afterEach(() => pool.end());

  test("that could not be rolled back takes its connection along: a later statement must not land inside it", async () => {
    const stuck = session.transaction(async (tx) => await tx.query("select pg_sleep(2.5)"));
    await expect(stuck).rejects.toThrow("timeout");
    await session.run(keep, ["after"]);
    expect(await kept(db)).toEqual(["after"]);
  });

  test("whose work meets a deadlock runs again, also when the work wrapped the error in its own", async () => {
    let rounds = 0;
    await session.transaction(async (tx) => {
      rounds += 1;
      await tx.query("insert into belfry.quarantine (at, lane, body) values (belfry.now(), 'a', $1)", [`${rounds}`]);
      if (rounds === 1) await wrapped(tx.query("do $$ begin raise exception 'x' using errcode = '40P01'; end $$"));
    });
    expect(await kept(db)).toEqual(["2"]);
  });

  test("whose connection breaks says so, and does not let the work take the blame", async () => {
    const broken = session.transaction((tx) => wrapped(tx.query("select pg_terminate_backend(pg_backend_pid())")));
    await expect(broken).rejects.toThrow(DatabaseUnavailable);
    await session.run(keep, ["after"]);
    expect(await kept(db)).toEqual(["after"]);
  });

  test("keeps the work's own error when a deadlock was dealt with before it", async () => {
    const refused = session.transaction(async (tx) => {
      await tx
        .nested(() => tx.query("do $$ begin raise exception 'x' using errcode = '40P01'; end $$"))
        .catch(() => {});
      throw new RangeError("the work's own");
    });
    await expect(refused).rejects.toThrow("the work's own");
  });
});

/** As `onSettled` hooks fail: with an error of their own. */
const wrapped = <T>(work: Promise<T>): Promise<T> =>
  work.catch((cause: unknown) => {
    throw new Error("the hook failed", { cause });
  });
