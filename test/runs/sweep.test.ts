import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob, defineSweep, PermanentError, sql } from "../../src/compose/index.ts";
import { runLimits } from "../../src/machine/run-limits.ts";
import { shop, sum } from "../core/world.ts";
import { drain, onPostgres, usersInTable } from "./on-postgres.ts";

describe("a sweep", () => {
  test("pages past rows whose job exists and goes on in a job of its own", async () => {
    await onPostgres(async (db, ports) => {
      await usersInTable(db, 250);
      const opened: string[] = [];
      const open = defineJob({
        id: "open-capsule",
        payload: z.object({ user: z.string() }),
        retry: { maxAttempts: 2, base: "1h" },
        run: async (p) => {
          if (Number(p.user) <= 50) throw new Error("this one always fails");
          opened.push(p.user);
        },
      });
      const sweep = defineSweep({
        id: "open-due",
        due: (moment) =>
          sql<{
            id: string;
          }>`select id from app_user where opens_at <= ${moment.scheduledFor.toISOString()}::timestamptz + interval '1 day'`,
        key: (row) => `capsule:${row.id}`,
        each: open,
        payload: (row) => ({ user: row.id }),
        batchSize: 20,
        maxIterations: 3,
        maxLateness: "60s",
      });
      const all = await shop([sweep], ports);
      await all.enqueue(sweep, undefined);
      await drain(all, db);
      expect(opened).toHaveLength(200);
      expect(sum(ports.measured, "sweep.late", "open-due")).toBe(0);
      await all.enqueue(sweep, undefined);
      // Its own lateness counts once, and that of the jobs that continue it does not.
      await db.clock.advance(61_000);
      await drain(all, db);
      expect(sum(ports.measured, "sweep.late", "open-due")).toBe(1);
      expect(ports.measured.filter(({ name }) => name === "sweep.lateness")).toHaveLength(2);
      expect(opened).toHaveLength(200);
      expect(sum(ports.measured, "sweep.created", "open-due")).toBe(250);
      expect(sum(ports.measured, "sweep.known", "open-due")).toBe(250);
      const { rows } = await db.pool.query("select count(*)::int as n from belfry.job where kind = 'open-due'");
      expect(rows[0]?.["n"]).toBeGreaterThan(4);
    });
  });

  test("that tolerates failures makes a run of one time's rows, in as many pages as it takes", async () => {
    await onPostgres(async (db, ports) => {
      await usersInTable(db, runLimits.fanOutPageRowsMax + 5);
      const open = defineJob({
        id: "open-capsule",
        payload: z.object({ user: z.string() }),
        run: ({ user }) => {
          if (user === "3") throw new PermanentError("empty", { code: "EMPTY" });
        },
      });
      const sweep = defineSweep({
        id: "open-due",
        due: () => sql<{ id: string }>`select id from app_user`,
        key: (row) => row.id,
        each: open,
        payload: (row) => ({ user: row.id }),
        maxLateness: "60s",
        tolerate: 0.01,
      });
      const all = await shop([sweep], ports);
      await all.enqueue(sweep, undefined);
      await drain(all, db);
      await all.enqueue(sweep, undefined);
      await drain(all, db);
      const total = runLimits.fanOutPageRowsMax + 5;
      // What the first one made is not made again.
      expect(await db.store.runs({ kinds: ["open-due"] })).toMatchObject([
        { state: "DONE", total: 0 },
        { state: "DONE", total, ok: total - 1, failed: 1 },
      ]);
    });
  });
});
