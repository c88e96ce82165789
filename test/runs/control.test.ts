import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineDataGraph, defineGraph, PermanentError, type DataTask } from "../../src/compose/index.ts";
import { runBulkPage } from "../../src/insight/run-bulk.ts";
import { noAftermath } from "../../src/machine/outbox.ts";
import { newerRun, rerunRun, resumeRun } from "../../src/insight/run-control.ts";
import { readRun } from "../../src/insight/runs.ts";
import { cancelRun } from "../../src/run/cancel-run.ts";
import { only } from "../contract/store/fixture.ts";
import { jobOf, shop } from "../core/world.ts";
import { runToEnd, startedRun, stateOf } from "./drive.ts";
import { insightOf, insightStub } from "../support/insight-stub.ts";

const twoSteps = (broken: { now: boolean }, ran: string[] = []) =>
  defineGraph({
    id: "two-steps",
    version: 1,
    input: z.object({ day: z.string() }),
    key: (input) => input.day,
    tasks(task) {
      const load = task("load", { run: ({ input }) => (ran.push("load"), { day: input.day }) });
      task("post", {
        after: { load },
        run: (o) => {
          ran.push(`post ${o.load.day}`);
          if (broken.now) throw new PermanentError("not yet");
        },
      });
    },
  });

describe("control of runs", () => {
  test("resume goes on from the failure, and rerun does everything again in a linked run with the next key", async () => {
    const broken = { now: true };
    const ran: string[] = [];
    const run = await startedRun(twoSteps(broken, ran), { day: "d1" });
    const { world: ports, registry } = run.shop;
    expect(await runToEnd(run)).toBe("FAILED");
    broken.now = false;
    expect((await resumeRun(ports, run.id)).ids).toHaveLength(1);
    expect(await runToEnd(run)).toBe("DONE");
    expect(ran).toEqual(["load", "post d1", "post d1"]);
    const again = await rerunRun({ ...ports, insight: insightOf(ports.store) }, registry, run.id);
    const third = await rerunRun({ ...ports, insight: insightOf(ports.store) }, registry, again);
    expect(await runToEnd({ ...run, id: again })).toBe("DONE");
    expect(await runToEnd({ ...run, id: third })).toBe("DONE");
    expect(await ports.store.run(again)).toMatchObject({ key: "d1#2", parent: run.id, input: { day: "d1" } });
    expect(await ports.store.run(third)).toMatchObject({ key: "d1#3", parent: again });
    expect(ran).toHaveLength(7);
  });

  test("a bulk retry counts what it was asked for, and apart what a run takes along", async () => {
    const steps = defineGraph({
      id: "steps",
      version: 1,
      tasks(task) {
        const load = task("load", { run: () => Promise.reject(new PermanentError("no")) });
        task("post", { after: { load }, run: () => null });
      },
    });
    const run = await startedRun(steps, undefined);
    expect(await runToEnd(run)).toBe("FAILED");
    expect(await stateOf(run)).toEqual({ load: "FAILED", post: "SKIPPED" });
    const failed = (await run.shop.world.store.tasks(run.id)).find(({ state }) => state === "FAILED");
    const advanced: unknown[] = [];
    const insight = insightStub({
      "bulk-take": () => ({ id: "1", action: "retry", paceMs: 1_000, dueAt: 0, search: {}, next: "9" }),
      "search-ids": () => ({ id: failed?.jobId }),
      "bulk-advance": ({ id: _id, owner: _owner, ...page }: Record<string, unknown>) => advanced.push(page),
    });
    const { world: ports, registry } = run.shop;
    await runBulkPage({ ports, registry, insight }, { owner: "test" });
    expect(advanced).toEqual([{ next: null, changed: 1, takenAlong: 1, refused: 0 }]);
  });

  test("cancel ends everything that is open, once", async () => {
    const run = await startedRun(twoSteps({ now: false }), { day: "d1" });
    const { world: ports, registry } = run.shop;
    expect(await cancelRun(ports, registry, run.id)).toBe(2);
    expect(await stateOf(run)).toEqual({ load: "CANCELED", post: "CANCELED" });
    expect(await ports.store.run(run.id)).toMatchObject({ state: "CANCELED", done: 2 });
    expect(await cancelRun(ports, registry, run.id)).toBe(null);
  });

  test("cancel goes on behind a page whose jobs ended by themselves", async () => {
    const run = await startedRun(twoSteps({ now: false }), { day: "d1" });
    const { world: ports, registry } = run.shop;
    const none = { canceled: 0, isEmpty: false, aftermath: noAftermath };
    let pages = 0;
    const cancelPage: typeof ports.store.cancelPage = async (...page) =>
      ++pages === 1 ? none : await ports.store.cancelPage(...page);
    const store = Object.assign({}, ports.store, { cancelPage });
    expect(await cancelRun({ ...ports, store }, registry, run.id)).toBe(2);
    expect(await ports.store.run(run.id)).toMatchObject({ state: "CANCELED" });
  });

  test("a cancel whose process died between two pages is finished by the pass", async () => {
    const run = await startedRun(twoSteps({ now: false }), { day: "d1" });
    const { world: ports } = run.shop;
    await ports.store.cancelRun(run.id);
    expect((await ports.store.cancelPage(run.id, { limit: 1 })).canceled).toBe(1);
    expect(await ports.store.run(run.id)).toMatchObject({ state: "CANCELING" });
    expect(await runToEnd(run)).toBe("CANCELED");
    expect(await stateOf(run)).toEqual({ load: "CANCELED", post: "CANCELED" });
    expect(await ports.store.cancelingRuns(10)).toEqual([]);
  });
});

const loaded = (tasks: readonly DataTask<{ n: number }>[], ran: unknown[] = [], version = 1) =>
  defineDataGraph({
    id: "loaded",
    version,
    taskPayload: z.object({ n: z.number(), unit: z.string().default("s") }),
    graph: () => tasks.map((task) => ({ payload: { n: 1 }, ...task })),
    run: (given) => (ran.push(given), given.task.toUpperCase()),
  });

describe("a graph that comes as data", () => {
  test("runs its tasks in order and hands outputs over by name", async () => {
    const ran: unknown[] = [];
    const tasks = [
      { name: "c", after: ["a", "b"] },
      { name: "a", payload: { n: 7 } },
      { name: "b", after: ["a"] },
    ];
    const run = await startedRun(loaded(tasks, ran), undefined);
    expect(await runToEnd(run)).toBe("DONE");
    expect(ran).toEqual([
      { task: "a", payload: { n: 7, unit: "s" }, outputs: {} },
      { task: "b", payload: { n: 1, unit: "s" }, outputs: { a: "A" } },
      { task: "c", payload: { n: 1, unit: "s" }, outputs: { a: "A", b: "B" } },
    ]);
  });

  test("that changes in the middle of a run touches only the next run, also by what its tasks get", async () => {
    const run = await startedRun(loaded([{ name: "a" }, { name: "b", after: ["a"] }]), undefined);
    const { world: ports } = run.shop;
    const ran: unknown[] = [];
    const release = await shop([loaded([{ name: "a", payload: { n: 2 } }, { name: "added" }], ran, 2)], ports);
    expect(await runToEnd({ ...run, shop: release })).toBe("DONE");
    expect(ran).toMatchObject([
      { task: "a", payload: { n: 1 } },
      { task: "b", payload: { n: 1 } },
    ]);
    expect(await stateOf(run)).toEqual({ a: "SUCCESS", b: "SUCCESS" });
    const id = await rerunRun({ ...ports, insight: insightOf(ports.store) }, release.registry, run.id);
    const next = { ...run, shop: release, id };
    expect(await runToEnd(next)).toBe("DONE");
    expect(await stateOf(next)).toEqual({ a: "SUCCESS", added: "SUCCESS" });
    expect(await ports.store.run(id)).toMatchObject({ version: 2, parent: run.id });
  });

  test("goes on by the newest definition, also when the process dies between its commit and its messages", async () => {
    const broken = { now: true };
    const before = [{ name: "a" }, { name: "b", after: ["a"] }, { name: "c", after: ["b"] }];
    const failing = defineDataGraph({
      id: "loaded",
      version: 1,
      taskPayload: z.object({ n: z.number() }),
      graph: () => before.map((task) => ({ payload: { n: 1 }, ...task })),
      run({ task }) {
        if (task === "b" && broken.now) throw new PermanentError("not yet");
      },
    });
    const run = await startedRun(failing, undefined);
    const { world: ports } = run.shop;
    expect(await runToEnd(run)).toBe("FAILED");
    const ran: unknown[] = [];
    const after = [{ name: "seed" }, { name: "a" }, { name: "b", after: ["a", "seed"] }, { name: "d", after: ["b"] }];
    const release = await shop([loaded(after, ran, 2)], ports);
    const view = await insightOf(ports.store).run(readRun, run.id);
    const newer = await newerRun(ports, release.registry, only(view));
    // As a process that dies after the commit: nothing it left to do is done.
    await ports.store.resumeRun(run.id, { newer: newer ?? undefined });
    expect(await runToEnd({ ...run, shop: release })).toBe("DONE");
    expect(await stateOf(run)).toEqual({ a: "SUCCESS", b: "SUCCESS", c: "SKIPPED", seed: "SUCCESS", d: "SUCCESS" });
    expect(ran).toMatchObject([{ task: "seed" }, { task: "b", outputs: { seed: "SEED" } }, { task: "d" }]);
    expect(await ports.store.run(run.id)).toMatchObject({ version: 2, total: 5, ok: 4, skipped: 1 });
  });

  test("with a cycle is refused with its path, for good, and starts no run", async () => {
    const tasks = [
      { name: "a", after: ["c"] },
      { name: "b", after: ["a"] },
      { name: "c", after: ["b"] },
      { name: "d" },
    ];
    const graph = loaded(tasks);
    const opened = await shop([graph]);
    const id = await opened.enqueue(graph, undefined);
    await opened.work();
    const job = await jobOf(opened.world, id);
    expect(job).toMatchObject({ state: "FAILED", errorCode: "INVALID_GRAPH" });
    expect(job.errorMessage).toContain('"a -> b -> c -> a"');
    expect(await opened.world.store.runs()).toEqual([]);
  });
});
