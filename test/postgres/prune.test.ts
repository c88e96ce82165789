import { describe, expect, test } from "vitest";
import { postgresLimits } from "../../src/postgres/postgres-limits.ts";
import { turnPartitions } from "../../src/postgres/prune-store.ts";
import { createSession } from "../../src/postgres/session.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { FenceLost } from "../../src/machine/fence.ts";
import { insertOne, running, settleOne } from "../contract/store/fixture.ts";
import { aTask, workbench } from "../contract/store/run-fixture.ts";
import { testDatabase } from "../support/database.ts";
import { eachTest } from "../support/each-test.ts";
import { readAudits, writeAudits } from "../../src/insight/audit.ts";

const day = 86_400_000;

describe("prune on Postgres", () => {
  const db = eachTest(() => testDatabase({ own: true }));

  const partitions = async (): Promise<readonly string[]> => {
    const { rows } = await db.pool.query<{ name: string }>(
      "select relname as name from pg_class where relname ~ '^event_[0-9]{8}$' and relkind = 'r' order by 1",
    );
    return rows.map((row) => row.name);
  };

  test("makes the days ahead as time goes on, and an event lies in its day", async () => {
    // The database was made a while ago: maybe yesterday.
    await db.store.prune({ limit: 10 });
    const before = await partitions();
    await db.clock.advance(3 * day);
    await db.store.prune({ limit: 10 });
    expect(await partitions()).toHaveLength(before.length + 3);
    await insertOne(db.store);
    const { rows } = await db.pool.query(
      "select tableoid::regclass::text ~ '_[0-9]{8}$' as in_its_day from belfry.event",
    );
    expect(rows).toEqual([{ in_its_day: true }]);
  });

  test("drops the days past the history's retention, and counts them", async () => {
    const before = await partitions();
    await settleOne(db.store, await running(db.store));
    await db.clock.advance(contractLimits.historyMs + 2 * day);
    const { partitions: dropped } = await db.store.prune({ limit: 10 });
    expect(dropped).toBeGreaterThanOrEqual(1);
    const after = await partitions();
    expect(after).not.toContain(before[0]);
    const { rows } = await db.pool.query("select count(*)::int as events from belfry.event");
    expect(rows).toEqual([{ events: 0 }]);
  });

  test("drops no day once another scheduler has the lock", async () => {
    const { store, connections, clock } = db;
    await clock.advance(contractLimits.historyMs + 2 * day);
    await store.prune({ limit: 10 });
    await clock.advance(day);
    const before = await partitions();
    await store.installFence({ name: "pass", token: 2 });
    const session = createSession(connections.main, connections.where);
    const fence = { name: "pass", token: 1 };
    // The days to come are there, so that the first step is a drop.
    await turnPartitions(session, new Set(), { drops: false });
    await expect(turnPartitions(session, new Set(), { fence, drops: true })).rejects.toThrow(FenceLost);
    expect(await partitions()).toEqual(expect.arrayContaining([...before]));
  });

  test("deletes the audit's rows past their 400 days, and keeps each younger one", async () => {
    const row = { caller: "ada", action: "POST /jobs", target: "/jobs", status: 201, detail: "{}", trace: "t" };
    await db.insight.run(writeAudits, [row]);
    await db.clock.advance(399 * day);
    await db.insight.run(writeAudits, [{ ...row, trace: "younger" }]);
    await db.store.prune({ limit: 10 });
    expect(await db.insight.run(readAudits, { limit: 10 })).toHaveLength(2);
    await db.clock.advance(2 * day);
    await db.store.prune({ limit: 10 });
    expect(await db.insight.run(readAudits, { limit: 10 })).toMatchObject([{ trace: "younger" }]);
  });

  test("a day that already has rows in the default partition stays there and stops nothing", async () => {
    await db.clock.advance(40 * day);
    await insertOne(db.store);
    expect(await db.store.prune({ limit: 10 })).toMatchObject({ jobs: 0, partitions: 0 });
    await db.store.prune({ limit: 10 });
    const { rows } = await db.pool.query(
      "select c.relname as lies_in from belfry.event e join pg_class c on c.oid = e.tableoid",
    );
    expect(rows).toEqual([{ lies_in: "event_rest" }]);
    expect((await partitions()).filter((name) => name.startsWith("event"))).toHaveLength(
      8 + postgresLimits.partitionDaysAhead,
    );
  });

  test("what lies in the default partition goes after the history's retention too, and nothing younger", async () => {
    await db.clock.advance(40 * day);
    await insertOne(db.store);
    await db.clock.advance(contractLimits.historyMs - day);
    await db.store.prune({ limit: 10 });
    const count = async () => (await db.pool.query("select count(*)::int as events from belfry.event_rest")).rows;
    expect(await count()).toEqual([{ events: 1 }]);
    await db.clock.advance(2 * day);
    await db.store.prune({ limit: 10 });
    expect(await count()).toEqual([{ events: 0 }]);
  });

  test("a long retention in front does not hide a short one behind it", async () => {
    for (let n = 0; n < 20; n += 1) await settleOne(db.store, await running(db.store, { retentionMs: 60 * day }));
    for (let n = 0; n < 5; n += 1) await settleOne(db.store, await running(db.store, { retentionMs: 7 * day }));
    await db.clock.advance(8 * day);
    expect((await db.store.prune({ limit: 3 })).jobs).toBe(3);
    expect((await db.store.prune({ limit: 3 })).jobs).toBe(2);
  });

  test("an open run keeps all its jobs, however old they are, beside a finished one of the same retention", async () => {
    const ended = await workbench(db.store, { key: "ended", tasks: [aTask("a")] });
    const open = await workbench(db.store, { key: "open", tasks: [aTask("a"), aTask("b", [0])] });
    for (const run of [ended, open]) await run.end("a");
    await db.clock.advance(contractLimits.retentionMsDefault + day);
    expect((await db.store.prune({ limit: 10 })).jobs).toBe(1);
    expect(await db.store.run(ended.runId)).toBeNull();
    expect(await open.states()).toMatchObject({ a: "SUCCESS", b: expect.any(String) });
    expect(await db.store.run(open.runId)).toMatchObject({ state: "RUNNING", total: 2 });
  });

  test("unreadable bodies go after their retention", async () => {
    await db.store.quarantine("default", ["one", "two"]);
    await db.clock.advance(contractLimits.retentionMsDefault + day);
    await db.store.prune({ limit: 10 });
    const { rows } = await db.pool.query("select count(*)::int as bodies from belfry.quarantine");
    expect(rows).toEqual([{ bodies: 0 }]);
  });
});
