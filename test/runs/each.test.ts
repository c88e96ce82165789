import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, sql } from "../../src/compose/index.ts";
import { shop } from "../core/world.ts";
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

describe("on Postgres", () => {
  test.each([
    ["fanout.beforePage", 2],
    ["fanout.afterPage", 1],
    ["fanout.afterPage", 3],
    ["each.beforeWait", 1],
  ])("a process that dies at %s, time %i, loses no row and doubles none", async (where, time) => {
    let passed = 0;
    const crash = (point: string): void => {
      if (point === where && ++passed === time) throw new Error("died");
    };
    await onPostgres(async (db, ports) => {
      await usersInTable(db, 2_500);
      const opened = await shop([users], ports);
      await opened.enqueue(users, undefined);
      await drain(opened, db);
      const { rows } = await db.pool.query(
        `select j.state, j.attempt, j.result, r.state as run from belfry.job j join belfry.run r on r.id = j.run_id where task is not null order by j.id`,
      );
      const ids = Array.from({ length: 2_500 }, (_, at) => at + 1);
      expect(rows).toEqual([
        { state: "SUCCESS", attempt: 3, result: ids, run: "DONE" },
        { state: "SUCCESS", attempt: 1, result: 2_500, run: "DONE" },
      ]);
    }, crash);
  });
});
