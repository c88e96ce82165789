import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineFanOut, defineJob, PermanentError, sql } from "../../src/compose/index.ts";
import { runLimits } from "../../src/machine/run-limits.ts";
import { jobOf, sum, world, shop } from "../core/world.ts";
import { onPostgres, usersInTable } from "./on-postgres.ts";
import { runToEnd, startedRun } from "./drive.ts";

const push = (sent: string[]) =>
  defineJob({
    id: "send-push",
    payload: z.object({ user: z.string() }),
    run: (p) => void sent.push(p.user),
  });

async function* users(count: number) {
  for (let n = 1; n <= count; n += 1) yield { id: `u${n}`, notify: n % 3 !== 0 };
}

describe("a fan-out over an iterable", () => {
  test("makes one job for each row, asks again before each, and closes with the funnel", async () => {
    const sent: string[] = [];
    const fanOut = defineFanOut({
      id: "daily-quiz",
      from: () => users(30),
      key: (row, moment) => `${moment.day}:${row.id}`,
      each: push(sent),
      payload: (row) => ({ user: row.id }),
      stillWanted: (row) => row.notify,
    });
    const run = await startedRun(fanOut, undefined);
    expect(await runToEnd(run)).toBe("DONE");
    expect(new Set(sent)).toEqual(
      new Set(Array.from({ length: 30 }, (_, n) => `u${n + 1}`).filter((_, n) => n % 3 !== 2)),
    );
    expect(sent).toHaveLength(20);
    const ended = { version: 1, total: 30, ok: 20, skipped: 10, percent: 100 };
    expect(await run.shop.world.store.run(run.id)).toMatchObject(ended);
  });

  test("leaves a job whose key exists with another payload as it is, and counts the conflict", async () => {
    const sent: string[] = [];
    const fanOut = defineFanOut({
      id: "welcome",
      from: () => users(2),
      key: (row) => `welcome:${row.id}`,
      each: push(sent),
      payload: (row) => ({ user: sent.length === 0 ? row.id : `${row.id}, renamed` }),
    });
    const run = await startedRun(fanOut, undefined);
    expect(await runToEnd(run)).toBe("DONE");
    const conflicts = (): number => sum(run.shop.world.measured, "fanout.conflicts", "welcome");
    expect(conflicts()).toBe(0);
    await run.shop.enqueue(fanOut, undefined);
    await run.shop.work();
    expect(conflicts()).toBe(2);
    expect(sent.toSorted()).toEqual(["u1", "u2"]);
  });

  test("writes no page of a run that was canceled, and its job says why", async () => {
    const rows = runLimits.fanOutPageRowsMax + 1;
    const ports = world();
    const runOf = async () => (await ports.store.runs({ kinds: ["welcome"] }))[0];
    const fanOut = defineFanOut({
      id: "welcome",
      from: async function* () {
        for await (const row of users(rows)) {
          const run = row.id === `u${rows}` ? await runOf() : undefined;
          if (run !== undefined) await ports.store.cancelRun(run.id);
          yield row;
        }
      },
      key: (row) => row.id,
      each: push([]),
      payload: (row) => ({ user: row.id }),
    });
    const opened = await shop([fanOut], ports);
    const id = await opened.enqueue(fanOut, undefined);
    await opened.work({ max: 1 });
    expect((await jobOf(ports, id)).errorMessage).toContain("takes no more pages: it was canceled");
    expect(await runOf()).toMatchObject({ total: rows - 1 });
  });

  test("gives the message of a target back while its question cannot be asked", async () => {
    const sent: string[] = [];
    let isBroken = true;
    const fanOut = defineFanOut({
      id: "welcome",
      from: () => users(1),
      key: (row) => row.id,
      each: push(sent),
      payload: (row) => ({ user: row.id }),
      stillWanted: () => {
        if (isBroken) throw new Error("no table");
        return true;
      },
    });
    const run = await startedRun(fanOut, undefined);
    expect(await run.shop.work()).toHaveLength(1);
    isBroken = false;
    expect(await runToEnd(run)).toBe("DONE");
    expect(sent).toEqual(["u1"]);
  });

  test.each([
    { gone: 8, state: "DONE" },
    { gone: 9, state: "FAILED" },
  ])("that tolerates 5 % of 178 is $state with $gone dead letters, and says so once", async ({ gone, state }) => {
    const fanOut = defineFanOut({
      id: "daily-quiz",
      from: () => users(178),
      key: (row) => row.id,
      each: defineJob({
        id: "send-push",
        payload: z.object({ user: z.string() }),
        run: ({ user }) => {
          if (Number(user.slice(1)) <= gone) throw new PermanentError("gone", { code: "HTTP_410" });
        },
      }),
      payload: (row) => ({ user: row.id }),
      tolerate: 0.05,
    });
    const run = await startedRun(fanOut, undefined);
    expect(await runToEnd(run)).toBe(state);
    const { store, measured } = run.shop.world;
    expect(await store.run(run.id)).toMatchObject({ total: 178, done: 178, failed: gone, tolerate: 0.05 });
    const [done, failed] = ["run.done", "run.failed"].map((name) => sum(measured, name, "daily-quiz"));
    expect({ done, failed }).toEqual(state === "DONE" ? { done: 1, failed: 0 } : { done: 0, failed: 1 });
  });
});

describe("a fan-out over a query", () => {
  test.each(["id", "opens_at"])("by %s goes on where a crash left it, and misses and doubles no row", async (by) => {
    let pages = 0;
    const crash = (point: string): void => {
      if (point === "fanout.afterPage" && ++pages === 2) throw new Error("the worker died");
      if (point === "fanout.beforePage" && pages === 3) {
        pages += 1;
        throw new Error("the worker died");
      }
    };
    await onPostgres(async (db, ports) => {
      await usersInTable(db, 3_500);
      const fanOut = defineFanOut({
        id: "all-users",
        from: () => sql<{ id: string }>`select * from app_user where id > ${0}`,
        by,
        key: (row) => `u${row.id}`,
        each: push([]),
        payload: (row) => ({ user: row.id }),
      });
      const opened = await shop([fanOut], ports);
      const id = await opened.enqueue(fanOut, undefined);
      for (let turn = 0; turn < 4; turn += 1) {
        const records = ports.queue.receive("default", 10_000).filter((one) => one.body.includes(`"${id}"`));
        await opened.worker.handle(records, { remainingMs: () => 600_000 });
        await db.clock.advance(60_000);
        await ports.clock.advance(60_000);
      }
      expect((await jobOf(ports, id)).state).toBe("SUCCESS");
      expect((await jobOf(ports, id)).attempt).toBe(3);
      const { rows } = await db.pool.query(
        "select count(*)::int as jobs, count(distinct key)::int as keys from belfry.job where kind = 'send-push' and run_id is not null",
      );
      expect(rows).toEqual([{ jobs: 3_500, keys: 3_500 }]);
      const [run] = await db.store.runs({ kinds: ["all-users"] });
      expect(run).toMatchObject({ total: 3_500, sealed: true, state: "RUNNING" });
    }, crash);
  });

  test.each([
    ["microseconds", "opens_at", "now() + n * interval '1 microsecond'"],
    ["one instant for all", "opens_at", "now()"],
    ["numbers with more digits than JSON keeps", "amount", "9007199254740993.000000001 + n / 1000000000.0"],
  ])("is paged by %s and neither stops nor leaves a row out", async (_, by, value) => {
    await onPostgres(async (db, ports) => {
      await db.pool.query("alter table app_user add amount numeric");
      await db.pool.query(`insert into app_user (id, ${by}) select n, ${value} from generate_series(1, 2500) n`);
      let pages = 0;
      const fanOut = defineFanOut({
        id: "by-time",
        from: () => sql<{ id: string }>`select * from app_user`,
        by,
        key: (row) => `u${row.id}`,
        each: push([]),
        payload: (row) => ({ user: row.id }),
      });
      const counted = {
        ...ports,
        crashPoint: async (point: string) => void (pages += Number(point === "fanout.afterPage")),
      };
      const opened = await shop([fanOut], counted);
      const id = await opened.enqueue(fanOut, undefined);
      const records = counted.queue.receive("default", 10_000).filter((one) => one.body.includes(`"${id}"`));
      await opened.worker.handle(records, { remainingMs: () => 600_000 });
      expect((await jobOf(counted, id)).state).toBe("SUCCESS");
      expect(pages).toBe(3);
      const [run] = await db.store.runs({ kinds: ["by-time"] });
      expect(run).toMatchObject({ total: 2_500, sealed: true });
    });
  });
});
