import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  defineDataGraph,
  defineFanOut,
  defineGraph,
  defineJob,
  defineSweep,
  PermanentError,
  RetryLater,
  type RunSummary,
  sql,
} from "../../src/compose/index.ts";
import { only } from "../contract/store/fixture.ts";
import { shop } from "../core/world.ts";
import { pass } from "../../src/schedule/pass.ts";
import { atOnce } from "../support/rescue-at-once.ts";
import { type Driven, runToEnd, startedRun } from "./drive.ts";
import { drain, onPostgres, usersInTable } from "./on-postgres.ts";

/** Closes what the run before it made, and keeps with what it was called. */
function closing() {
  const closed: { day: string; billed: number }[] = [];
  const job = defineJob({
    id: "close-day",
    payload: z.object({ day: z.string(), billed: z.number() }),
    run: (payload) => void closed.push(payload),
  });
  return { job, closed };
}

const customers = async function* () {
  for (const id of ["a", "b", "c"]) yield { id };
};

const bill = (refused: readonly string[] = []) =>
  defineJob({
    id: "bill",
    payload: z.object({ customer: z.string() }),
    run: ({ customer }) => {
      if (refused.includes(customer)) throw new PermanentError("no account", { code: "NO_ACCOUNT" });
    },
  });

const billing = { id: "billing", from: customers, key: ({ id }: { id: string }) => id } as const;
const payload = ({ id }: { id: string }) => ({ customer: id });

/** To its end, then a pass and what it sends, until nothing is open. @returns how the run ended. */
async function ended(run: Driven) {
  const { world: ports, registry, work } = run.shop;
  const state = await runToEnd(run);
  for (let turn = 0; turn < 5; turn += 1) {
    await pass(ports, registry, { signal: AbortSignal.timeout(60_000), lapsed: atOnce });
    await work();
    await ports.clock.advance(2_000);
  }
  return state;
}

describe("bill everybody, then close the day", () => {
  test("after a fan-out, with what its summary and its moment say", async () => {
    const { job, closed } = closing();
    const seen: RunSummary[] = [];
    const fanOut = defineFanOut({
      ...billing,
      each: bill(["c"]),
      payload,
      tolerate: 0.5,
      then: job,
      thenPayload: (summary) => (seen.push(summary), { day: summary.moment.day, billed: summary.succeeded }),
    });
    const run = await startedRun(fanOut, undefined);
    expect(await ended(run)).toBe("DONE");
    const { store } = run.shop.world;
    const { then, input, createdAt, finishedAt } = (await store.run(run.id)) ?? {};
    const { day } = (input ?? {}) as { day?: string };
    expect(closed).toEqual([{ day, billed: 2 }]);
    expect(seen).toMatchObject([{ runId: run.id, outcome: "DONE", total: 3, succeeded: 2, failed: 1, skipped: 0 }]);
    expect([seen[0]?.startedAt, seen[0]?.endedAt]).toEqual([createdAt, finishedAt].map((at) => new Date(at ?? "")));
    const follower = only(await store.jobs({ kind: "close-day" }));
    const writer = only(await store.jobs({ kind: "billing.then" }));
    expect(follower).toMatchObject({ key: `then:${run.id}` });
    expect(then).toEqual({ kind: "close-day", on: "success", by: writer.id, job: follower.id });
  });

  test("not after one that FAILED, unless it follows failures or every end", async () => {
    for (const on of ["success", "failure", "end"] as const) {
      const { job, closed } = closing();
      const thenPayload = ({ outcome, failed }: RunSummary) => ({ day: outcome, billed: failed });
      const fanOut = defineFanOut({ ...billing, each: bill(["c"]), payload, then: job, thenPayload, on });
      const run = await startedRun(fanOut, undefined);
      expect(await ended(run)).toBe("FAILED");
      expect(closed).toEqual(on === "success" ? [] : [{ day: "FAILED", billed: 1 }]);
    }
  });

  test("after a graph, with its input as its tasks have it", async () => {
    const { job, closed } = closing();
    const input = z.object({ day: z.string(), rate: z.number().default(7) });
    const tail = {
      then: job,
      thenPayload: ({ input: of, total }: RunSummary & { input: z.output<typeof input> }) => ({
        day: of.day,
        billed: of.rate * total,
      }),
    };
    const graph = defineGraph({
      id: "g",
      version: 1,
      input,
      tasks: (task) => void task("a", { run: () => 1 }),
      ...tail,
    });
    const tasks = [{ name: "a" }, { name: "b", after: ["a"] }];
    const data = defineDataGraph({ id: "d", version: 1, input, graph: () => tasks, run: () => 1, ...tail });
    for (const each of [graph, data]) {
      const run = await startedRun(each, { day: "2026-11-26" });
      expect(await ended(run)).toBe("DONE");
    }
    expect(closed).toEqual([7, 14].map((billed) => ({ day: "2026-11-26", billed })));
  });

  test("after a sweep, whose rows are a run then", async () => {
    await onPostgres(async (db, ports) => {
      await usersInTable(db, 7);
      const { job, closed } = closing();
      const sweep = defineSweep({
        id: "billing",
        due: () => sql<{ id: string }>`select id from app_user`,
        key: ({ id }) => id,
        each: bill(),
        payload,
        maxLateness: "60s",
        then: job,
        thenPayload: ({ succeeded }) => ({ day: "today", billed: succeeded }),
      });
      const all = await shop([sweep], ports);
      await all.enqueue(sweep, undefined);
      await drain(all, db);
      expect(closed).toEqual([{ day: "today", billed: 7 }]);
    });
  });

  test("onSettled writes in the transaction that writes the follower: a failed attempt takes both back", async () => {
    await onPostgres(async (db, ports) => {
      await usersInTable(db, 2);
      const { job, closed } = closing();
      let tries = 0;
      const sweep = defineSweep({
        id: "billing",
        due: () => sql<{ id: string }>`select id from app_user where id < 100`,
        key: ({ id }) => id,
        each: bill(),
        payload,
        maxLateness: "60s",
        then: job,
        thenPayload({ succeeded }) {
          tries += 1;
          if (tries === 1) throw new RetryLater("not yet", { after: "1ms" });
          return { day: "today", billed: succeeded };
        },
        onSettled: async ({ total }, tx) =>
          void (await tx.query("insert into app_user values (100 + $1::int)", [total])),
      });
      const all = await shop([sweep], ports);
      await all.enqueue(sweep, undefined);
      await drain(all, db);
      expect([tries, closed]).toEqual([2, [{ day: "today", billed: 2 }]]);
      expect((await db.pool.query("select from app_user where id > 100")).rowCount).toBe(1);
    });
  });

  test("onSettled alone sees every end, once", async () => {
    const seen: string[] = [];
    const onSettled = async ({ outcome }: RunSummary): Promise<void> => void seen.push(outcome);
    const run = await startedRun(defineFanOut({ ...billing, each: bill(["c"]), payload, onSettled }), undefined);
    expect(await ended(run)).toBe("FAILED");
    expect(seen).toEqual(["FAILED"]);
  });

  test("what makes its payload fails by itself, and goes on when it is repaired", async () => {
    const { job, closed } = closing();
    let isBroken = true;
    const fanOut = defineFanOut({
      ...billing,
      each: bill(),
      payload,
      then: job,
      thenPayload({ succeeded }) {
        if (isBroken) throw new PermanentError("no rate", { code: "NO_RATE" });
        return { day: "today", billed: succeeded };
      },
    });
    const run = await startedRun(fanOut, undefined);
    expect(await ended(run)).toBe("DONE");
    const { store } = run.shop.world;
    const writer = only(await store.jobs({ kind: "billing.then" }));
    expect(writer).toMatchObject({ state: "FAILED", errorCode: "NO_RATE" });
    isBroken = false;
    await store.retry([writer.id]);
    expect(await ended(run)).toBe("DONE");
    expect(closed).toEqual([{ day: "today", billed: 3 }]);
  });

  test("is written by the end of a run alone", async () => {
    const { job } = closing();
    const fanOut = defineFanOut({
      ...billing,
      each: bill(),
      payload,
      then: job,
      thenPayload: () => ({ day: "", billed: 0 }),
    });
    const run = await startedRun(fanOut, undefined);
    const writer = run.shop.registry.jobs.get("billing.then");
    expect(await writer?.check({ day: "x" })).toMatchObject({
      issues: [{ message: "the end of a run writes this job: enqueue none" }],
    });
  });
});
