import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, PermanentError } from "../../src/compose/index.ts";
import { decodeMessage } from "../../src/run/message.ts";
import { acknowledge, lane } from "../core/world.ts";
import { stateOf, runToEnd, startedRun } from "./drive.ts";

const settlement = (diff: number, ran: string[] = []) =>
  defineGraph({
    id: "settlement",
    version: 3,
    input: z.object({ day: z.string(), size: z.number().default(7) }),
    key: (input) => input.day,
    tasks(task) {
      const orders = task("orders", { run: ({ input }) => (ran.push("orders"), { rows: input.size + diff }) });
      const refunds = task("refunds", { run: ({ input }) => (ran.push("refunds"), { rows: input.size }) });
      const match = task("match", {
        after: { left: orders, right: refunds },
        run: (o) => (ran.push("match"), { diff: o.left.rows - o.right.rows }),
      });
      const review = task("review", {
        after: { match },
        when: (o) => o.match.diff !== 0,
        run: (o) => (ran.push("review"), { ticket: `T-${o.match.diff}` }),
      });
      task("publish", {
        after: { match, review },
        join: "allDone",
        run: (o) => (ran.push("publish"), { ticket: o.review?.ticket ?? null, diff: o.match?.diff ?? null }),
      });
    },
  });

describe("a graph of tasks, run by the real worker", () => {
  test("runs each task once after its predecessors, hands it their outputs and closes", async () => {
    const ran: string[] = [];
    const graph = settlement(2, ran);
    const run = await startedRun(graph, { day: "2031-05-06" });
    expect(await runToEnd(run)).toBe("DONE");
    expect(await stateOf(run)).toEqual({
      orders: "SUCCESS",
      refunds: "SUCCESS",
      match: "SUCCESS",
      review: "SUCCESS",
      publish: "SUCCESS",
    });
    expect(ran).toHaveLength(5);
    expect(ran.slice(2)).toEqual(["match", "review", "publish"]);
    const tasks = await run.shop.world.store.tasks(run.id);
    expect(tasks.at(-1)?.result).toEqual({ ticket: "T-2", diff: 2 });
    const view = await run.shop.world.store.run(run.id);
    expect(view).toMatchObject({ kind: "settlement", key: "2031-05-06", version: 3, total: 5, ok: 5, percent: 100 });
  });

  test("skips a branch that is not taken, and what waits for all ends still runs", async () => {
    const run = await startedRun(settlement(0), { day: "2031-05-06" });
    expect(await runToEnd(run)).toBe("DONE");
    expect(await stateOf(run)).toMatchObject({ review: "SKIPPED", publish: "SUCCESS" });
    const tasks = await run.shop.world.store.tasks(run.id);
    expect(tasks.at(-1)?.result).toEqual({ ticket: null, diff: 0 });
  });

  test("is one run for each key: the second enqueue finds the first", async () => {
    const graph = settlement(0);
    const run = await startedRun(graph, { day: "2031-05-06" });
    await run.shop.enqueue(graph, { day: "2031-05-06" });
    await runToEnd(run);
    expect(await run.shop.world.store.runs({ kinds: ["settlement"] })).toHaveLength(1);
  });
});

test("continue: the successors of a task that fails for good start without its output, the run is FAILED", async () => {
  const seen: unknown[] = [];
  const graph = defineGraph({
    id: "fails",
    version: 1,
    onFailure: "continue",
    tasks(task) {
      const bad = task("bad", { run: () => Promise.reject<number>(new PermanentError("no such table")) });
      const after = task("after", { after: { bad }, run: (o) => (seen.push(o.bad), { rows: 2 }) });
      task("last", { after: { after }, run: () => null });
    },
  });
  const run = await startedRun(graph, undefined);
  expect(await runToEnd(run)).toBe("FAILED");
  expect(await stateOf(run)).toEqual({ bad: "FAILED", after: "SUCCESS", last: "SUCCESS" });
  expect(seen).toEqual([undefined]);
});

test("a task whose worker dies is rescued, and its run ends as if nothing had happened", async () => {
  const run = await startedRun(settlement(1), { day: "2031-05-06" });
  const { world } = run.shop;
  const records = run.shop.receive();
  const messages = records.flatMap((record) => decodeMessage(record.body) ?? []);
  const { claimed } = await world.store.claim(messages, { worker: "dead", alone: false });
  expect(claimed).toHaveLength(2);
  acknowledge(world, records, []);
  await world.clock.advance(60_000);
  expect(world.queue.receive(lane, 10)).toEqual([]);
  expect(await runToEnd(run)).toBe("DONE");
});
