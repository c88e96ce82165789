import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineApp, defineGraph, type Duration } from "../../src/compose/index.ts";
import { checkApps } from "../../src/define/check.ts";
import { describe as line } from "../../src/define/problem.ts";
import { signalRun } from "../../src/run/signal-run.ts";
import { pass } from "../../src/schedule/pass.ts";
import { atOnce } from "../support/rescue-at-once.ts";
import { type Driven, runToEnd, startedRun, stateOf } from "./drive.ts";
import { drain, onPostgres } from "./on-postgres.ts";
import { shop } from "../core/world.ts";

const dayMs = 86_400_000;

/** Ask, wait for the answer, then ship by what it said. */
const order = (onTimeout: "fail" | "continue", timeout: Duration = "3d") =>
  defineGraph({
    id: "order",
    version: 1,
    input: z.object({ id: z.string(), onAt: z.number().default(0) }),
    key: ({ id }) => id,
    tasks(task) {
      const ask = task("ask", { run: () => ({ asked: true }) });
      const payload = z.object({ by: z.string().min(1), cents: z.number().default(5) });
      const approved = task.waitFor("approved", { after: { ask }, payload, timeout, onTimeout });
      const rest = task.sleepUntil("rest", { after: { approved }, for: "10m" });
      const day = task.sleepUntil("day", { after: { ask }, until: ({ input }) => new Date(input.onAt) });
      task("ship", {
        after: { approved, rest, day },
        run: (given) => ({ by: given.approved?.by ?? null, cents: given.approved?.cents ?? null }),
      });
    },
  });

const send = ({ shop: { world, registry }, id }: Driven, payload: object, caller = "ada") =>
  signalRun(world, registry, { id, kind: "order" }, { name: "approved", payload, caller });

const resultOf = async ({ shop: { world }, id }: Driven, name: string) =>
  (await world.store.tasks(id)).find(({ task }) => task === name);

describe("a graph that waits", () => {
  test("goes on with the payload of its signal, with the schema's defaults, and then by its times", async () => {
    const run = await startedRun(order("fail"), { id: "1", onAt: 10 });
    await run.shop.work();
    await run.shop.work();
    expect(await stateOf(run)).toMatchObject({ approved: "PENDING", day: "SUCCESS", ship: "PENDING" });
    const startedAt = await run.shop.world.store.now();
    await send(run, { by: "ada" });
    expect(await runToEnd(run)).toBe("DONE");
    expect((await resultOf(run, "ship"))?.result).toEqual({ by: "ada", cents: 5 });
    const rest = await resultOf(run, "rest");
    expect(Date.parse(rest?.startedAt ?? "") - startedAt).toBeGreaterThanOrEqual(600_000);
  });

  test("fails with SIGNAL_TIMEOUT when none came, or goes on without it", async () => {
    const failing = await startedRun(order("fail", "5m"), { id: "1" });
    expect(await runToEnd(failing)).toBe("FAILED");
    expect(await resultOf(failing, "approved")).toMatchObject({ error: { code: "SIGNAL_TIMEOUT" }, attempt: 1 });
    const going = await startedRun(order("continue", "5m"), { id: "1" });
    expect(await runToEnd(going)).toBe("DONE");
    expect((await resultOf(going, "ship"))?.result).toEqual({ by: null, cents: null });
  });

  test("refuses a payload that does not fit, and fails for one that another release let through", async () => {
    const run = await startedRun(order("fail"), { id: "1" });
    await expect(send(run, { by: "" })).rejects.toThrow('payload of "order.approved" is invalid: by:');
    await run.shop.world.store.signal(run.id, "approved", { payload: { by: 7 } });
    expect(await runToEnd(run)).toBe("FAILED");
    expect((await resultOf(run, "approved"))?.error).toMatchObject({ code: "INVALID_PAYLOAD" });
  });

  test("fails at its start when until answers no time, and names the task", async () => {
    const run = startedRun(order("fail"), { id: "1", onAt: 1e99 });
    await expect(run).rejects.toThrow("no run");
  });
});

test("a run that waits for a year changes no row until its signal comes", async () => {
  await onPostgres(async (db, ports) => {
    const opened = await shop([order("fail", "366d")], ports);
    await opened.enqueue(order("fail", "366d"), { id: "1" });
    await drain(opened, db);
    const rows = async () =>
      (
        await db.pool.query(
          `select task, xmin, ctid, (select last_value from belfry.event_id_seq) as events from belfry.job where run_id is not null
          union all select kind, xmin, ctid, null from belfry.run order by 1`,
        )
      ).rows;
    const before = await rows();
    for (let month = 0; month < 12; month += 1) {
      await db.clock.advance(30 * dayMs);
      await pass(ports, opened.registry, { signal: AbortSignal.timeout(60_000), lapsed: atOnce });
      await drain(opened, db);
    }
    expect(await rows()).toEqual(before);
    const [run] = await db.store.runs({ kinds: ["order"] });
    if (run === undefined) throw new Error("the run was started");
    await signalRun(
      ports,
      opened.registry,
      { id: run.id, kind: "order" },
      { name: "approved", payload: { by: "ada" } },
    );
    await drain(opened, db);
    expect((await db.store.tasks(run.id)).find(({ task }) => task === "approved")?.state).toBe("SUCCESS");
  });
});

test("a wait is refused for what cannot be: no timeout, too long, both ways to sleep", () => {
  const bad = defineGraph({
    id: "bad",
    version: 1,
    tasks(task) {
      task.waitFor("a", {} as never);
      task.waitFor("b", { timeout: "400d", onTimeout: "retry" as never });
      task.sleepUntil("c", { for: "1h", until: () => new Date() } as never);
    },
  });
  expect(checkApps([defineApp({ name: "a", jobs: [bad] })], "dev").map(line)).toEqual([
    expect.stringMatching(/task "a" of graph "bad".*timeout.*is missing/s),
    expect.stringMatching(/task "b" of graph "bad".*timeout.*"400d".*must be at most 366d/s),
    expect.stringMatching(/task "b" of graph "bad".*onTimeout.*"retry".*is not one of the choices/s),
    expect.stringMatching(/task "c" of graph "bad".*for.*stands beside until/s),
  ]);
});
