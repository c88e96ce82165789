import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, PermanentError, sql } from "../../src/compose/index.ts";
import { resumeRun } from "../../src/insight/run-control.ts";
import { mapOf } from "../../src/insight/run-map.ts";
import { cancelRun, finishCancels } from "../../src/run/cancel-run.ts";
import { pass } from "../../src/schedule/pass.ts";
import { shop } from "../core/world.ts";
import { atOnce } from "../support/rescue-at-once.ts";
import { type Driven, runToEnd, startedRun, stateOf } from "./drive.ts";
import { drain, onPostgres, usersInTable } from "./on-postgres.ts";

/** Bill everybody, then close the day. */
const day = (count: number, { tolerate = 0, fails = new Set<number>() } = {}) =>
  defineGraph({
    id: "day",
    version: 1,
    input: z.object({ day: z.string() }),
    tasks(task) {
      const orders = task("orders", { run: () => ({ count }) });
      const bill = task.each("bill", {
        after: { orders },
        from: (given) => Array.from({ length: given.orders.count }, (_, at) => ({ cents: at + 1 })),
        run: ({ cents }) => {
          if (fails.has(cents)) throw new Error("no money");
          return { cents };
        },
        retry: { maxAttempts: 1 },
        tolerate,
        async fold(outputs, end) {
          let cents = 0;
          for await (const one of outputs) cents += one.cents;
          return { cents, failed: end.failed };
        },
      });
      task("close", { after: { bill }, run: (given) => ({ ...given.bill, day: given.input.day }) });
    },
  });

const passed = ({ shop: { world, registry } }: Driven) =>
  pass(world, registry, { signal: AbortSignal.timeout(60_000), lapsed: atOnce });

const outputOf = async ({ shop: { world }, id }: Driven, name: string) =>
  (await world.store.tasks(id)).find(({ task }) => task === name);

describe("a task of rows", () => {
  test.each([0, 1, 2_345])("hands what %i jobs returned to its successor, folded", async (count) => {
    const run = await startedRun(day(count), { day: "mon" }, { max: 100 });
    expect(await runToEnd(run)).toBe("DONE");
    const closed = await outputOf(run, "close");
    expect(closed?.result).toEqual({ cents: (count * (count + 1)) / 2, failed: 0, day: "mon" });
    expect(await outputOf(run, "bill")).toMatchObject({ state: "SUCCESS", attempt: 2 });
    expect((await run.shop.world.store.runs({ kinds: ["day.bill"] })).map(({ state }) => state)).toEqual(["DONE"]);
  });

  test("succeeds with as many failures as it tolerates, and fails with one more", async () => {
    const fails = new Set([2, 5]);
    const fine = await startedRun(day(10, { fails, tolerate: 0.2 }), { day: "mon" });
    expect(await runToEnd(fine)).toBe("DONE");
    expect((await outputOf(fine, "close"))?.result).toEqual({ cents: 48, failed: 2, day: "mon" });
    const bad = await startedRun(day(10, { fails, tolerate: 0.1 }), { day: "mon" });
    expect(await runToEnd(bad)).toBe("FAILED");
    expect(await stateOf(bad)).toEqual({ orders: "SUCCESS", bill: "FAILED", close: "SKIPPED" });
    expect(await outputOf(bad, "bill")).toMatchObject({ error: { code: "ROWS_FAILED" } });
  });

  test("refuses more rows than its limit before it writes the job of one", async () => {
    const run = await startedRun(day(50_001), { day: "mon" });
    expect(await runToEnd(run)).toBe("FAILED");
    expect(await outputOf(run, "bill")).toMatchObject({ error: { code: "TOO_MANY_ROWS" }, attempt: 1 });
    expect(await run.shop.world.store.runs({ kinds: ["day.bill"] })).toMatchObject([{ total: 0 }]);
  });
});

const users = defineGraph({
  id: "users",
  version: 1,
  tasks(task) {
    const bill = task.each("bill", {
      from: () => sql<{ id: string }>`select id::text from app_user`,
      run: ({ id }) => ({ id }),
      async fold(outputs) {
        const ids: number[] = [];
        for await (const { id } of outputs) ids.push(Number(id));
        return ids.toSorted((a, b) => a - b);
      },
    });
    task("close", { after: { bill }, run: ({ bill: ids }) => ids.length });
  },
});

const rowsRun = async ({ shop: { world } }: Driven, kind = "day.bill") =>
  (await world.store.runs({ kinds: [kind] }))[0];

describe("control of a task of rows", () => {
  test("a cancel of the run cancels the jobs of the rows with it, and a retry runs what is left", async () => {
    const run = await startedRun(day(20), { day: "mon" }, { max: 1 });
    const { shop: opened } = run;
    for (let turn = 0; turn < 5; turn += 1) await opened.work({ max: 1 });
    await cancelRun(opened.world, opened.registry, run.id);
    expect(await rowsRun(run)).toMatchObject({ state: "CANCELING" });
    expect(await runToEnd(run)).toBe("CANCELED");
    await passed(run);
    const ended = await rowsRun(run);
    expect(ended).toMatchObject({ state: "CANCELED", done: 20 });
    expect(ended?.ok).toBeLessThan(10);
    await resumeRun(opened.world, run.id);
    expect(await runToEnd(run)).toBe("DONE");
    expect((await outputOf(run, "close"))?.result).toEqual({ cents: 210, failed: 0, day: "mon" });
  });

  test("a retry of a failed task runs its failed rows again, and no other", async () => {
    const fails = new Set([2, 5]);
    const run = await startedRun(day(10, { fails }), { day: "mon" });
    expect(await runToEnd(run)).toBe("FAILED");
    fails.clear();
    expect((await resumeRun(run.shop.world, run.id)).ids).toHaveLength(2);
    expect(await runToEnd(run)).toBe("DONE");
    expect((await outputOf(run, "close"))?.result).toEqual({ cents: 55, failed: 0, day: "mon" });
    const ofRows = await rowsRun(run);
    const rows = ofRows === undefined ? [] : await run.shop.world.store.tasks(ofRows.id);
    expect(rows.filter(({ attempt }) => attempt > 1)).toHaveLength(2);
  });

  test("a task that fails where a failure stops the run cancels the rows that wait", async () => {
    const stopping = defineGraph({
      id: "day",
      version: 1,
      onFailure: "stop",
      tasks(task) {
        task.each("bill", { from: () => [1, 2, 3], run: () => {}, rate: { limit: 1, per: "1h" } });
        task("check", { run: () => Promise.reject(new PermanentError("no")) });
      },
    });
    const run = await startedRun(stopping, undefined);
    expect(await runToEnd(run)).toBe("FAILED");
    await passed(run);
    expect(await stateOf(run)).toEqual({ bill: "SKIPPED", check: "FAILED" });
    expect(await rowsRun(run)).toMatchObject({ state: "CANCELED" });
  });
});

describe("on Postgres", () => {
  test("a cancel while it grows leaves nothing open, and a retry bills who is left", async () => {
    await onPostgres(async (db, ports) => {
      await usersInTable(db, 1_010);
      const opened = await shop([users], ports);
      await opened.enqueue(users, undefined);
      await opened.work();
      const [run] = await ports.store.runs({ kinds: ["users"] });
      if (run === undefined) throw new Error("no run was started");
      const crash = ports.crashPoint;
      Object.assign(ports, {
        async crashPoint(point: string) {
          if (point === "fanout.afterPage") await cancelRun(ports, opened.registry, run.id);
          await crash?.(point);
        },
      });
      await drain(opened, db);
      Object.assign(ports, { crashPoint: crash });
      const states = async () =>
        (await db.pool.query("select state, count(*)::int from belfry.job where run_id is not null group by 1")).rows;
      await finishCancels(ports, opened.registry, { signal: AbortSignal.timeout(60_000) });
      expect(await states()).toEqual([{ state: "CANCELED", count: 1_002 }]);
      await resumeRun(ports, run.id);
      await drain(opened, db);
      expect(await states()).toEqual([{ state: "SUCCESS", count: 1_012 }]);
      expect(await ports.store.run(run.id)).toMatchObject({ state: "DONE" });
      const { rows } = await mapOf(db.insight, run.id);
      expect(rows).toMatchObject([{ place: 0, total: 1_010, done: 1_010, failed: 0 }]);
    });
  });

  test.each([
    ["fanout.beforePage", 2],
    ["fanout.afterPage", 2],
    ["each.beforeWait", 1],
  ])("a process that dies at %s, time %i, loses no row and doubles none", async (where, time) => {
    let passed = 0;
    const crash = (point: string): void => {
      if (point === where && ++passed === time) throw new Error("died");
    };
    await onPostgres(async (db, ports) => {
      await usersInTable(db, 1_100);
      const opened = await shop([users], ports);
      await opened.enqueue(users, undefined);
      await drain(opened, db);
      const { rows } = await db.pool.query(
        `select j.state, j.attempt, j.result, r.state as run from belfry.job j join belfry.run r on r.id = j.run_id where task is not null order by j.id`,
      );
      const ids = Array.from({ length: 1_100 }, (_, at) => at + 1);
      expect(rows).toEqual([
        { state: "SUCCESS", attempt: 3, result: ids, run: "DONE" },
        { state: "SUCCESS", attempt: 1, result: 1_100, run: "DONE" },
      ]);
    }, crash);
  });
});
