/** Races that stress runs on plain Postgres found, by their number there. These are fast versions: none may come back. */
import { describe, expect, test } from "vitest";
import { endIdleHolders } from "../../src/postgres/sql/fence.ts";
import { execute } from "../../src/postgres/statement.ts";
import type { JobId } from "../../src/machine/job.ts";
import { aJob, insertMany, insertOne, messageFor, minute, show, settleAll } from "../contract/store/fixture.ts";
import { testDatabase, type TestDatabase, otherSession } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { contradictions, leasesLeft } from "./books.ts";
import { deadlocks, shuffled, untilWaiting } from "./race.ts";

const db = eachTest(() => testDatabase({ connections: 12 }));
const { store, pool, clock } = db;

describe("finding 8: the fence", () => {
  const pass = (token: number) => ({ name: "pass", token });

  test("a new holder gets its token in behind holders whose transactions overlap", async () => {
    await store.installFence(pass(1));
    const loops = new AbortController();
    const insert = () => store.insert([aJob()], { fence: pass(1) });
    const loop = async (): Promise<void> => {
      while (!loops.signal.aborted) await insert();
    };
    const busy = [loop(), loop(), loop(), loop()].map((each) => each.catch((error: unknown) => error));
    const began = performance.now();
    await store.installFence(pass(2));
    const took = performance.now() - began;
    loops.abort();
    await Promise.all(busy);
    // Behind share locks that overlap without end it would wait for ever; `proof schedulers-50` holds it to the second.
    expect(took).toBeLessThan(10_000);
    await expect(insert()).rejects.toThrow("not the newest");
  });

  test("a holder stopped in the middle of a transaction does not keep the new one out", async () => {
    await store.installFence(pass(1));
    const stopped = await pool.connect();
    stopped.on("error", () => {});
    await stopped.query("begin");
    await stopped.query("select pg_advisory_xact_lock_shared(hashtextextended('belfry.fence:' || 'pass', 0))");
    await stopped.query("insert into belfry.quarantine (at, lane, body) values (belfry.now(), 'l', 'late')");
    expect(await store.installFence(pass(2))).toBe(1);
    await expect(stopped.query("commit")).rejects.toThrow(/terminat|not queryable/i);
    stopped.release(true);
    const { rows } = await pool.query("select count(*)::int as late from belfry.quarantine");
    expect(rows).toEqual([{ late: 0 }]);
  });

  test("a holder whose statement runs is waited for, and one of another name is left alone", async () => {
    await store.installFence(pass(1));
    const [busy, other] = [await pool.connect(), await pool.connect()];
    for (const [client, name] of [
      [busy, "pass"],
      [other, "another"],
    ] as const) {
      await client.query("begin");
      await client.query("select pg_advisory_xact_lock_shared(hashtextextended('belfry.fence:' || $1, 0))", [name]);
    }
    // Longer than two turns of the installer.
    const worked = busy.query("select pg_sleep(1); commit");
    expect(await store.installFence(pass(2))).toBe(1);
    // One answer for each of the two statements.
    expect(await worked).toMatchObject([{ command: "SELECT" }, { command: "COMMIT" }]);
    expect((await other.query("commit")).command).toBe("COMMIT");
    for (const client of [busy, other]) client.release();
  });

  test("a holder that was busy just now is left alone, however long ago its transaction began", async () => {
    const holder = await otherSession(pool);
    const began = performance.now();
    await holder.query("select pg_advisory_xact_lock_shared(hashtextextended('belfry.fence:' || 'pass', 0))");
    await holder.query("select pg_sleep(2)");
    // The transaction is older than this, and idle for two seconds less.
    expect(await execute(pool, endIdleHolders, ["pass", performance.now() - began])).toEqual([]);
    expect((await holder.query("commit")).command).toBe("COMMIT");
  });

  test("a check that waited for an installer sees what it installed", async () => {
    await store.installFence(pass(1));
    const installer = await otherSession(pool);
    await installer.query("select pg_advisory_xact_lock(hashtextextended('belfry.fence:' || 'pass', 0))");
    await installer.query("update belfry.lock_fence set token = 2 where name = 'pass'");
    const stale = store.insert([aJob()], { fence: pass(1) }).then(
      () => "written",
      (error: Error) => error.name,
    );
    await untilWaiting(db);
    await installer.query("commit");
    expect(await stale).toBe("FenceLost");
    expect(await store.jobs()).toEqual([]);
  });
});

describe("finding 10: one lock order", () => {
  test("settles, heartbeats, cancels and rescues of the same rows in any order never deadlock", async () => {
    await store.installSlots([{ key: "cap:many", size: 100, onRefusal: "hold", reason: "slot" }]);
    for (let round = 0; round < 15; round += 1) {
      const kinds = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? {} : { slotKeys: ["cap:many"] }));
      const ids = await insertMany(store, kinds);
      const messages = ids.map((jobId) => ({ jobId, generation: 1, trace: "" }));
      const { claimed: held } = await store.claim(shuffled(messages, round), { worker: "worker-1", alone: false });
      await clock.advance(minute);
      const settle = (seed: number) => settleAll(store, shuffled(held, seed));
      const beats = (seed: number, n: number) =>
        shuffled(held, seed + n).map((job) => ({ ...job, progress: (round + n) / 100 }));
      await Promise.all([
        settle(round),
        store.heartbeat(beats(round, 1), "worker-1"),
        store.heartbeat(beats(round, 2), "worker-1"),
        store.cancel(shuffled(ids, round + 2)),
        store.rescue({ limit: 20, interruptionsMax: 20 }),
        settle(round + 3),
        store.claim(shuffled(messages, round + 4), { worker: "worker-2", alone: true }),
        store.retry(shuffled(ids, round + 5)),
        store.relay({ limit: 20 }),
      ]);
      expect(await contradictions(pool)).toEqual([]);
    }
    await store.cancel((await store.jobs({ states: ["RUNNING"] })).map(({ id }) => id));
    await clock.advance(minute);
    await store.rescue({ limit: 1_000, interruptionsMax: 20 });
    expect(await leasesLeft(pool)).toBe(0);
    expect(await deadlocks(db)).toBe(0);
  });
});

/** What a call answers that waits for a row of another transaction, until that ends so. */
async function behind<R>(change: string, call: () => Promise<R>, end: "commit" | "rollback"): Promise<R> {
  const other = await pool.connect();
  await other.query(`begin; ${change}`);
  const answer = call();
  await untilWaiting(db);
  await other.query(end);
  other.release();
  return await answer;
}

test("a heartbeat that waited while another worker took the lease over renews nothing", async () => {
  const jobId = await insertOne(store);
  await store.claim([{ jobId, generation: 1, trace: "" }], { worker: "worker-1", alone: false });
  const takeOver = "update belfry.lease set worker = 'worker-2'";
  expect(await behind(takeOver, () => store.heartbeat([{ jobId, attempt: 1 }], "worker-1"), "commit")).toEqual([]);
});

describe("finding 11: a claim waits", () => {
  test.each([
    ["for the holder of the row, and then takes it: nothing is dropped", "rollback", ["RUNNING"]],
    ["and sees what the other one changed", "commit", []],
  ] as const)("%s", async (_, end, states) => {
    const jobId = await insertOne(store);
    const claim = () => store.claim([{ jobId, generation: 1, trace: "" }], { worker: "worker-1", alone: false });
    const { claimed } = await behind("update belfry.job set generation = generation + 1", claim, end);
    expect(claimed).toMatchObject(states.map((state) => ({ jobId, state })));
  });

  test("no longer than its lock timeout: then the row is left out, and its batch mates are claimed", async () => {
    const [first, locked, last, full] = await lockedAmongFour(db);
    const other = await otherSession(pool);
    await other.query("select 1 from belfry.job where id = $1 for no key update", [locked]);
    const messages = [first, locked, last, full].map((jobId) => ({ jobId, generation: 1, trace: "" }));
    const { claimed } = await store.claim(messages, { worker: "worker-1", alone: false });
    await other.query("rollback");
    expect(claimed.map((row) => row.jobId).toSorted()).toEqual([first, last, full].toSorted());
    expect((await show(store, locked)).job).toMatchObject({ state: "QUEUED", attempt: 0 });
  });

  test("and what was claimed stays claimed when a later statement of the claim fails", async () => {
    const own = await testDatabase({ own: true });
    const { store, pool } = own;
    const [first, , , full] = await lockedAmongFour(own);
    await pool.query("alter table belfry.slot rename to gone");
    const messages = [first, full].map((jobId) => ({ jobId, generation: 1, trace: "" }));
    const { claimed } = await store.claim(messages, { worker: "worker-1", alone: false });
    expect(claimed).toMatchObject([{ jobId: first, state: "RUNNING" }]);
    expect((await show(store, full)).job).toMatchObject({ state: "QUEUED", attempt: 0 });
  });
});

/** Three plain jobs and one that needs a slot. */
async function lockedAmongFour({ store }: TestDatabase): Promise<readonly [JobId, JobId, JobId, JobId]> {
  await store.installSlots([{ key: "cap:one", size: 1, onRefusal: "hold", reason: "slot" }]);
  return await insertMany(store, [{}, {}, {}, { slotKeys: ["cap:one"] }]);
}

describe("a lease and those who wait", () => {
  test("a heartbeat that waited for a rescue holds what that left, and not what it took", async () => {
    const ids = await insertMany(store, [{}, {}]);
    const messages = await Promise.all(ids.map((id) => messageFor(store, id)));
    const { claimed } = await store.claim(messages, { worker: "w", alone: false });
    expect(claimed.map(({ jobId }) => jobId)).toEqual(ids);
    await pool.query("update belfry.lease set until = 'epoch'");
    const other = await otherSession(pool);
    await other.query("select from belfry.job where id = $1 for update", [ids[1]]);
    let beat: Promise<unknown> = Promise.resolve();
    const rescued = await store.rescue({
      limit: 10,
      interruptionsMax: 20,
      async inSameTransaction() {
        beat = store.heartbeat(
          ids.map((jobId) => ({ jobId, attempt: 1 })),
          "w",
        );
        await untilWaiting(db);
      },
    });
    expect(rescued.rows.map(({ jobId }) => jobId)).toEqual([ids[0]]);
    expect(await beat).toEqual([{ jobId: ids[1], attempt: 1 }]);
  });

  test.each([
    { what: "a claim that waited for its job", held: "job", beats: false },
    { what: "a heartbeat that waited for its lease", held: "lease", beats: true },
  ])("$what has a lease that counts from the moment it is given", async ({ held, beats }) => {
    const jobId = await insertOne(store);
    const claim = () => store.claim([{ jobId, generation: 1, trace: "" }], { worker: "w", alone: false });
    if (beats) await claim();
    const other = await otherSession(pool);
    await other.query(`select from belfry.${held} for update`);
    const given = beats ? store.heartbeat([{ jobId, attempt: 1 }], "w") : claim();
    await untilWaiting(db);
    const { rows } = await other.query<{ at: string }>("select belfry.clock()::text as at");
    await other.query("commit");
    await given;
    const counts = "select until - belfry.span(ms) >= $1::timestamptz as counts_from_then from belfry.lease";
    expect((await pool.query(counts, [rows[0]?.at])).rows).toEqual([{ counts_from_then: true }]);
  });
});
