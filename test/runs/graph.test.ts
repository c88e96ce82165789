import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineGraph, PermanentError } from "../../src/compose/index.ts";
import { decodeMessage } from "../../src/run/message.ts";
import type { Job } from "../../src/define/context.ts";
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

const failing = (onFailure: "stop" | "skip-downstream" | "continue", seen: unknown[] = []): Job<void> =>
  defineGraph({
    id: "fails",
    version: 1,
    onFailure,
    tasks(task) {
      const bad = task("bad", {
        run: (): { rows: number } => {
          throw new PermanentError("no such table");
        },
      });
      const good = task("good", { run: () => ({ rows: 1 }) });
      const after = task("after-bad", { after: { bad }, run: (o) => (seen.push(o.bad), { rows: 2 }) });
      task("after-good", { after: { good }, run: () => null });
      task("last", { after: { after, good }, run: () => null });
      task("always", { after: { bad }, join: "allDone", run: () => null });
    },
  });

describe("a task that fails for good", () => {
  test("skip-downstream: what depends on it is SKIPPED, the rest goes on, the run is FAILED", async () => {
    const run = await startedRun(failing("skip-downstream"), undefined);
    expect(await runToEnd(run)).toBe("FAILED");
    expect(await stateOf(run)).toEqual({
      bad: "FAILED",
      good: "SUCCESS",
      "after-bad": "SKIPPED",
      "after-good": "SUCCESS",
      last: "SKIPPED",
      always: "SUCCESS",
    });
  });

  test("continue: its successors start without its output, the run is FAILED", async () => {
    const seen: unknown[] = [];
    const run = await startedRun(failing("continue", seen), undefined);
    expect(await runToEnd(run)).toBe("FAILED");
    expect(await stateOf(run)).toMatchObject({ bad: "FAILED", "after-bad": "SUCCESS", last: "SUCCESS" });
    expect(seen).toEqual([undefined]);
  });

  test("stop: nothing of the run starts any more", async () => {
    const run = await startedRun(failing("stop"), undefined, { max: 1 });
    expect(await runToEnd(run)).toBe("FAILED");
    const states = await stateOf(run);
    expect(states["bad"]).toBe("FAILED");
    expect(Object.values(states).filter((state) => state === "SUCCESS")).toEqual([]);
  });

  test("is run again by a resume, with all that was skipped because of it, and nothing that succeeded", async () => {
    let broken = true;
    const tries: string[] = [];
    const graph = defineGraph({
      id: "repaired",
      version: 1,
      tasks(task) {
        const good = task("good", { run: () => void tries.push("good") });
        const bad = task("bad", {
          run: () => {
            tries.push("bad");
            if (broken) throw new PermanentError("not yet");
          },
        });
        const next = task("next", { after: { good, bad }, run: () => void tries.push("next") });
        task("last", { after: { next }, run: () => void tries.push("last") });
      },
    });
    const run = await startedRun(graph, undefined);
    expect(await runToEnd(run)).toBe("FAILED");
    broken = false;
    const again = await run.shop.world.store.resumeRun(run.id, {});
    expect(again.ids).toHaveLength(3);
    expect(await runToEnd(run)).toBe("DONE");
    expect(tries.filter((name) => name === "good")).toHaveLength(1);
    expect(tries.slice(-3)).toEqual(["bad", "next", "last"]);
    expect(await run.shop.world.store.run(run.id)).toMatchObject({ total: 4, done: 4, ok: 4, failed: 0, skipped: 0 });
  });
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

test("a canceled run ends CANCELED: what was open is CANCELED, and no message of it can start anything", async () => {
  const run = await startedRun(settlement(1), { day: "2031-05-06" });
  const { store } = run.shop.world;
  expect(await store.cancelRun(run.id)).toBe(true);
  await run.shop.work();
  while ((await store.cancelPage(run.id, { limit: 2 })).canceled > 0);
  expect(await runToEnd(run)).toBe("CANCELED");
  expect(new Set(Object.values(await stateOf(run)))).toEqual(new Set(["CANCELED"]));
  expect(await store.cancelRun(run.id)).toBe(false);
});
