import { expect, onTestFinished, test } from "vitest";
import { createMeter } from "../../bench/cost/meter.ts";
import { demandOf } from "../../scripts/costs/demand.ts";
import { openWorld } from "../../bench/cost/world.ts";
import { app, works } from "../../bench/cost/works.ts";
import type { Database } from "../../bench/ground.ts";
import { testDatabase } from "../support/database.ts";

test("the model asks of a stage what its jobs use at their peak, and keeps them for 30 days", () => {
  const found = demandOf({ postgresUs: 100, walBytes: 1_000, keyedWalBytes: 6_000, keptBytes: 500 }, 86_400_000);
  expect(found).toMatchObject({ peakPerSecond: 5_000, postgresCores: 0.5, walMbPerSecond: 5, keptGb: 1_296 });
  expect(found.keyedWalMbPerSecond).toBe(30);
  // Of a core that sends 12,000 a second.
  expect(found.schedulerCores).toBeCloseTo(0.42, 2);
  // 500 batches a second of 80 ms, and of 2,030 ms; two connections each.
  expect(found.connections).toEqual({ short: 80, long: 2_030 });
  expect(demandOf({ postgresUs: 1, walBytes: 1, keyedWalBytes: 1, keptBytes: 1 }, 1_000_000).usdAMonth).toBeCloseTo(
    16.7,
    0,
  );
});

async function openDatabase(): Promise<Database> {
  const fresh = await testDatabase({ own: true });
  const { url, pool } = fresh;
  const store = () => Promise.reject(new Error("the world opens its own store"));
  return { url, pool, store: store as never, cpuUs: async () => 0, close: async () => {} };
}

test.for(works)("$name: all of its jobs end, and what they use is counted", async (work) => {
  const database = await openDatabase();
  const meter = createMeter(database);
  const world = openWorld(app, database, meter);
  onTestFinished(() => world.close());
  await work.prepare?.(world, 20);
  await meter.during(() => work.run(world, 20));
  const { rows } = await database.pool.query(
    "select count(*)::int as n from belfry.job where state = 'SUCCESS' and kind <> 'noop'",
  );
  expect(rows[0].n).toBeGreaterThanOrEqual(20);
  const { statements, sqsCalls, logBytes, walBytes, connectionMs } = meter.used;
  // A send, a receive and a delete a batch, and one batch more where a job writes the others.
  expect(sqsCalls).toBeGreaterThanOrEqual((3 * 20) / work.batch);
  expect(statements).toBeGreaterThan(0);
  expect(connectionMs).toBeGreaterThan(0);
  expect(walBytes / rows[0].n).toBeGreaterThan(200);
  expect(logBytes / rows[0].n).toBeGreaterThan(100);
});

test("what is used between two counted stretches is not counted", async () => {
  const database = await openDatabase();
  const meter = createMeter(database);
  await meter.during(() => database.pool.query("select 1"));
  await database.pool.query("select 1");
  expect(meter.used.statements).toBe(1);
  await meter.during(() => database.pool.query("select 1"));
  expect(meter.used.statements).toBe(2);
});
