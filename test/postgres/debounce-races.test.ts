/** Races of calls that share a debounce key, and of a call with the claim of its job. */
import type { PoolClient } from "pg";
import { expect, test } from "vitest";
import type { JobId, Json, NewJob } from "../../src/machine/job.ts";
import { aJob, claimIfPossible, claimOne, only, show } from "../contract/store/fixture.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { untilWaiting } from "./race.ts";

const db = eachTest(() => testDatabase({ connections: 4 }));

const call = (payload: Json, key = "doc", forMs = 5_000): NewJob =>
  aJob({ kind: "reindex", payload, delayMs: forMs, debounce: { key, forMs, maxMs: 60_000, keep: "last" } });
const joining = async (jobs: readonly NewJob[], tx?: PoolClient): Promise<readonly JobId[]> =>
  (await db.store.insert(jobs, tx === undefined ? {} : { tx })).results.map(({ id }) => id);

async function begun(): Promise<PoolClient> {
  const client = await db.pool.connect();
  await client.query("begin");
  return client;
}
async function end(client: PoolClient, how: "commit" | "rollback"): Promise<void> {
  await client.query(how);
  client.release();
}
const count = async (): Promise<unknown> => (await db.pool.query("select kind from belfry.job")).rowCount;

test("a call waits for an open transaction of its key: it joins what commits, and begins after what rolls back", async () => {
  for (const how of ["commit", "rollback"] as const) {
    const open = await begun();
    const [held] = await joining([call("open", how)], open);
    const late = joining([call("late", how)]);
    await untilWaiting(db);
    await end(open, how);
    const [id] = await late;
    expect(id === held).toBe(how === "commit");
    expect((await show(db.store, only([id ?? ("" as JobId)]))).job).toMatchObject({
      payload: "late",
      joined: how === "commit" ? 1 : 0,
    });
  }
});

test("two callers with the same keys in other orders both commit", async () => {
  const third = await begun();
  await joining([call(0, "m")], third);
  const keys = ["a", "m", "z"];
  const inOwn = async (of: readonly string[]): Promise<void> => {
    const own = await begun();
    await joining(
      of.map((key) => call(key, key)),
      own,
    );
    await end(own, "commit");
  };
  const both = Promise.all([inOwn(keys), inOwn(keys.toReversed())]);
  await untilWaiting(db, 2);
  await end(third, "commit");
  await both;
  expect(await count()).toBe(3);
});

test("a call under REPEATABLE READ that meets a later one is refused with what to do", async () => {
  const own = await begun();
  await own.query("set transaction isolation level repeatable read");
  await own.query("select from belfry.debounce");
  await joining([call("later", "doc")]);
  await expect(joining([call("own", "doc")], own)).rejects.toThrow(/40001: .*; .* use READ COMMITTED/);
  await end(own, "rollback");
});

test("of a claim and a call at one time, the call joins before the start or begins another", async () => {
  const [first = "" as JobId] = await joining([call("first", "doc", 0)]);
  const claiming = await begun();
  await claiming.query("select from belfry.job for no key update");
  const claim = claimIfPossible(db.store, first);
  await untilWaiting(db);
  const late = joining([call("late")]);
  await untilWaiting(db, 2);
  await end(claiming, "commit");
  const claimed = await claim;
  const [joined] = await late;
  expect(claimed?.payload).toBe("first");
  expect(joined).not.toBe(first);
  expect((await show(db.store, first)).job.payload).toBe("first");
});

test("the table refuses another payload for a job that was started, or that is not debounced", async () => {
  const [started = "" as JobId] = await joining([call(1, "doc", 0)]);
  await claimOne(db.store, started);
  const [plain = "" as JobId] = await joining([aJob()]);
  for (const id of [started, plain])
    await expect(db.pool.query("update belfry.job set payload = '2' where id = $1", [id])).rejects.toMatchObject({
      constraint: "job_payload",
    });
});

test("a burst is forgotten once it has ended, and not before", async () => {
  const [open = "" as JobId, over = "" as JobId] = await joining([call(1, "open"), call(1, "over")]);
  await db.store.cancel([over]);
  await db.clock.advance(3_600_001);
  await db.store.prune({ limit: 10 });
  expect((await db.pool.query("select key, job_id from belfry.debounce")).rows).toEqual([
    { key: "open", job_id: open },
  ]);
});
