import type { JobId, RunId } from "../../../src/machine/job.ts";
import { expect, test } from "vitest";
import { noAftermath } from "../../../src/machine/outbox.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import { aJob, claimOne, insertOne, messageFor, only, settleOne, contract, type At } from "./fixture.ts";
import { aRun, aTask, failed, workbench } from "./run-fixture.ts";

export const runsContract = contract({ runs: [starting, joining, ending, paging, pruning, readingRuns] });

const diamond = [aTask("load"), aTask("left", [0]), aTask("right", [0]), aTask("close", [1, 2])];

function starting({ store }: At): void {
  test("a run hands off what has no predecessors, and a second start with its key finds it and hands off nothing", async () => {
    const first = await store.startRun(aRun({ tasks: diamond }));
    const second = await store.startRun(aRun({ tasks: diamond }));
    expect(first).toMatchObject({ created: true, sealed: true });
    expect(first.aftermath.outbox.flatMap((batch) => batch.messages)).toHaveLength(1);
    expect(second).toMatchObject({ runId: first.runId, created: false, aftermath: noAftermath });
    expect(await store.tasks(first.runId)).toHaveLength(4);
  });

  test("a run without jobs is complete at the first look", async () => {
    const { runId } = await store.startRun(aRun());
    await store.resolve({ runs: "all", limit: 10 });
    expect(await store.run(runId)).toMatchObject({ state: "DONE", percent: 100, total: 0 });
  });
}

function joining({ store }: At): void {
  test("a join starts with its last predecessor, and the run is DONE with its last task", async () => {
    const bench = await workbench(store, { tasks: diamond });
    await bench.end("load");
    await bench.end("left");
    expect(await bench.claim("close")).toBeNull();
    expect(await bench.states()).toMatchObject({ right: "QUEUED", close: "PENDING" });
    await bench.end("right");
    await bench.end("close");
    expect(await store.run(bench.runId)).toMatchObject({ state: "DONE", done: 4, ok: 4, percent: 100 });
  });

  test("a wide join is counted from what its predecessors appended", async () => {
    const roots = Array.from({ length: runLimits.wideJoinOver + 1 }, (_, n) => aTask(`root-${n}`));
    const bench = await workbench(store, { tasks: [...roots, aTask("close", Array.from(roots.keys()))] });
    const names = roots.map(({ task }) => task);
    await bench.endAll(names.slice(1));
    expect(await bench.states()).toMatchObject({ close: "PENDING" });
    await bench.endAll(names.slice(0, 1));
    expect(await bench.states()).toMatchObject({ close: "QUEUED" });
    await bench.end("close");
    expect(await store.run(bench.runId)).toMatchObject({ state: "DONE" });
  });

  test("a task whose predecessor FAILED is SKIPPED, and so is what comes after it, with the reason", async () => {
    const bench = await workbench(store, { tasks: diamond });
    await bench.end("load", failed);
    expect(await bench.states()).toEqual({ load: "FAILED", left: "SKIPPED", right: "SKIPPED", close: "SKIPPED" });
    const [, left] = await store.tasks(bench.runId);
    const history = left === undefined ? [] : await store.history(left.jobId);
    expect(history.at(-1)).toMatchObject({ to: "SKIPPED", reason: "upstream" });
    expect(await store.run(bench.runId)).toMatchObject({ state: "FAILED", failed: 1, skipped: 3, done: 4 });
  });
}

function ending({ store }: At): void {
  test("a run of which one task was canceled by itself is FAILED: what came after it was not done", async () => {
    const bench = await workbench(store, { tasks: diamond });
    await bench.end("load");
    const left = only((await store.tasks(bench.runId)).filter((each) => each.task === "left"));
    await store.cancel([left.jobId]);
    await bench.end("right");
    expect(await bench.states()).toMatchObject({ left: "CANCELED", right: "SUCCESS", close: "SKIPPED" });
    expect(await store.run(bench.runId)).toMatchObject({ state: "FAILED", failed: 0, skipped: 1, done: 4 });
  });

  test("under `stop` a failure skips whatever waits, and what runs may finish", async () => {
    const tasks = [aTask("bad"), aTask("runs"), aTask("waits"), aTask("after", [1])];
    const bench = await workbench(store, { tasks, onFailure: "stop" });
    const runs = await bench.claim("runs");
    await bench.end("bad", failed);
    expect(await bench.states()).toMatchObject({ runs: "RUNNING", waits: "SKIPPED", after: "SKIPPED" });
    expect(await store.run(bench.runId)).toMatchObject({ state: "RUNNING", stopped: true });
    if (runs === null) throw new Error("the task was claimed");
    await settleOne(store, runs);
    await bench.resolve();
    expect(await store.run(bench.runId)).toMatchObject({ state: "FAILED", ok: 1, failed: 1, skipped: 2 });
  });

  test("under `stop` a task whose message is out when its run stops is SKIPPED by its claim", async () => {
    const bench = await workbench(store, { tasks: [aTask("bad"), aTask("sent")], onFailure: "stop" });
    const [bad, unread] = [await bench.claim("bad"), await bench.states()];
    expect(unread).toEqual({ bad: "RUNNING", sent: "QUEUED" });
    if (bad === null) throw new Error("the task was claimed");
    await settleOne(store, bad, failed);
    await store.resolve({ runs: [bench.runId], limit: 1 });
    expect(await store.run(bench.runId)).toMatchObject({ state: "RUNNING", stopped: true });
    expect(await bench.states()).toMatchObject({ sent: "QUEUED" });
    await bench.claim("sent");
    expect(await bench.states()).toMatchObject({ sent: "SKIPPED" });
  });

  const sized = (count: number) => Array.from({ length: count }, (_, n) => aTask(`t${n}`));
  test.each([
    { tolerate: 0, total: 5, bad: 1, state: "FAILED" },
    { tolerate: 0.29, total: 100, bad: 29, state: "DONE" },
    { tolerate: 0.29, total: 100, bad: 30, state: "FAILED" },
    { tolerate: 1, total: 5, bad: 5, state: "DONE" },
  ])("a run that tolerates $tolerate of its jobs is $state with $bad of $total lost", async (of) => {
    const tasks = sized(of.total);
    const names = tasks.map(({ task }) => task);
    const bench = await workbench(store, { tasks, tolerate: of.tolerate });
    await store.cancel([only((await store.tasks(bench.runId)).slice(0, 1)).jobId]);
    await bench.endAll(names.slice(1, of.bad), failed);
    await bench.endAll(names.slice(of.bad));
    const dead = of.bad - 1;
    expect(await store.run(bench.runId)).toMatchObject({ state: of.state, failed: dead, canceled: 1, done: of.total });
    // What it tolerated runs again, and counts.
    expect((await store.resumeRun(bench.runId, {})).ids).toHaveLength(of.bad);
    bench.take(await store.relay({ limit: 1_000 }));
    await bench.endAll(names.slice(0, of.bad));
    expect(await store.run(bench.runId)).toMatchObject({ state: "DONE", ok: of.total, failed: 0, canceled: 0 });
  });

  test("under `stop` the first failure still stops a run that tolerates it", async () => {
    const bench = await workbench(store, {
      tasks: [...sized(1), aTask("after", [0])],
      onFailure: "stop",
      tolerate: 0.5,
    });
    await bench.end("t0", failed);
    expect(await bench.states()).toEqual({ t0: "FAILED", after: "SKIPPED" });
    expect(await store.run(bench.runId)).toMatchObject({ state: "DONE", stopped: true });
  });

  test("a run that is being canceled starts nothing, and is CANCELED with its last page", async () => {
    const bench = await workbench(store, { tasks: diamond });
    expect(await store.cancelingRuns(10)).toEqual([]);
    expect(await store.cancelRun(bench.runId, { caller: "ada" })).toBe(true);
    // Of another process, which continues.
    expect(await store.cancelRun(bench.runId)).toBe(true);
    expect(await store.cancelingRuns(10)).toEqual([bench.runId]);
    expect(await bench.claim("load")).not.toMatchObject({ state: "RUNNING" });
    while ((await store.cancelPage(bench.runId, { limit: 1 })).canceled > 0);
    expect(await store.cancelingRuns(10)).toEqual([]);
    await bench.resolve();
    expect(await store.run(bench.runId)).toMatchObject({ state: "CANCELED", done: 4 });
    const [task] = await store.tasks(bench.runId);
    const history = task === undefined ? [] : await store.history(task.jobId);
    expect(history.at(-1)).toMatchObject({ to: "CANCELED", reason: "run canceled", caller: "ada" });
    expect(await store.cancelRun(bench.runId)).toBe(false);
  });

  test("a resume runs what failed and what was skipped because of it, and nothing that succeeded", async () => {
    const bench = await workbench(store, { tasks: diamond });
    await bench.end("load");
    await bench.end("left", failed);
    await bench.end("right");
    expect(await store.run(bench.runId)).toMatchObject({ state: "FAILED" });
    const resumed = await store.resumeRun(bench.runId, {});
    expect(resumed.ids).toHaveLength(2);
    expect(resumed.aftermath).toMatchObject({ outbox: [], runs: [bench.runId], leftToRelay: ["default"] });
    expect(await bench.states()).toEqual({ load: "SUCCESS", left: "PENDING", right: "SUCCESS", close: "PENDING" });
    bench.take(await store.relay({ limit: 10 }));
    await bench.end("left");
    await bench.end("close");
    expect(await store.run(bench.runId)).toMatchObject({ state: "DONE", ok: 4, failed: 0, skipped: 0 });
  });

  test("a resume of one task takes along what was skipped behind it, and leaves other branches as they are", async () => {
    const roots = [aTask("p"), aTask("q"), aTask("behind", [0]), aTask("beside", [1])];
    const joins = [
      aTask("either", [0, 1], { join: "any" }),
      aTask("branch", [0, 1], { join: "allDone", hasCondition: true }),
    ];
    const bench = await workbench(store, { tasks: [...roots, ...joins] });
    await bench.endAll(["p", "q"], failed);
    const ids = new Map((await store.tasks(bench.runId)).map(({ task, jobId }) => [task, jobId]));
    const idOf = (name: string): JobId => ids.get(name) ?? ("0" as JobId);
    await store.skip([await messageFor(store, idOf("branch"))], { reason: "not taken" });
    await bench.resolve();
    const { ids: again } = await store.resumeRun(bench.runId, { ids: [idOf("p")] });
    expect(again).toEqual(["p", "behind", "either"].map(idOf));
    const other = { q: "FAILED", beside: "SKIPPED", branch: "SKIPPED" };
    expect(await bench.states()).toEqual({ ...other, p: "PENDING", behind: "PENDING", either: "PENDING" });
    bench.take(await store.relay({ limit: 10 }));
    expect(await bench.states()).toMatchObject({ p: "QUEUED", behind: "PENDING", either: "PENDING" });
    await bench.end("p");
    expect(await bench.states()).toEqual({ ...other, p: "SUCCESS", behind: "QUEUED", either: "QUEUED" });
  });
}

function paging({ store }: At): void {
  test("a page is written once by the try that holds the job, and the run closes only when it is sealed", async () => {
    const by = await claimOne(store, await insertOne(store));
    const { runId } = await store.startRun(aRun({ sealed: false }));
    const targets = [1, 2].map((n) => ({ job: aJob({ kind: "push", key: `t-${n}` }), row: { id: n } }));
    const page = { targets, cursor: 2, by };
    expect(await store.addPage(runId, page)).toMatchObject({ written: true, created: 2 });
    expect(await store.addPage(runId, page)).toMatchObject({ written: true, created: 0 });
    const stale = { ...page, by: { ...by, attempt: by.attempt + 1 } };
    expect(await store.addPage(runId, stale)).toMatchObject({ written: false });
    expect(await store.startRun(aRun({ sealed: false }))).toMatchObject({
      cursor: 2,
      sealed: false,
    });
    await store.cancel((await store.tasks(runId)).map((task) => task.jobId));
    await store.resolve({ runs: "all", limit: 10 });
    expect(await store.run(runId)).toMatchObject({ state: "RUNNING", total: 2, done: 2 });
    await store.sealRun(runId, {});
    await store.resolve({ runs: "all", limit: 10 });
    expect(await store.run(runId)).toMatchObject({ state: "FAILED" });
  });
}

function pruning({ store, advance }: At): void {
  test("a run goes with its jobs after its retention, a page at a time; one that is open loses nothing", async () => {
    const retentionMs = 60_000;
    const ended = await workbench(store, { key: "ended", retentionMs, tasks: [aTask("a"), aTask("b", [0])] });
    await ended.end("a");
    await ended.end("b");
    const going = await workbench(store, { key: "going", retentionMs, tasks: [aTask("a"), aTask("b", [0])] });
    await going.end("a");
    await store.prune({ limit: 10 });
    expect(await store.run(ended.runId)).not.toBeNull();
    await advance(2 * retentionMs);
    expect((await store.prune({ limit: 1 })).jobs).toBe(1);
    expect(await store.tasks(ended.runId)).toHaveLength(1);
    expect((await store.prune({ limit: 1 })).jobs).toBe(1);
    expect(await store.run(ended.runId)).toBeNull();
    expect(await store.tasks(going.runId)).toHaveLength(2);
    expect(await store.run(going.runId)).toMatchObject({ state: "RUNNING" });
  });
}

function readingRuns({ store }: At): void {
  test("tasks are listed in order with their edges, by state", async () => {
    const bench = await workbench(store, { tasks: diamond });
    await bench.end("load", { result: { rows: 3 } });
    const tasks = await store.tasks(bench.runId);
    const id = new Map(tasks.map((task) => [task.task, task.jobId]));
    expect(tasks.map((task) => [task.task, task.after, task.afterTotal])).toEqual([
      ["load", [], 0],
      ["left", [id.get("load")], 1],
      ["right", [id.get("load")], 1],
      ["close", [id.get("left"), id.get("right")], 2],
    ]);
    expect(tasks[0]).toMatchObject({ state: "SUCCESS", result: { rows: 3 }, attempt: 1, failures: 0, maxAttempts: 4 });
    expect(tasks[0]?.finishedAt).not.toBeNull();
    const waiting = await store.tasks(bench.runId, { states: ["PENDING"] });
    expect(only(waiting)).toMatchObject({ task: "close", blocked: true });
    expect(await store.tasks("999999" as RunId)).toEqual([]);
  });
}
