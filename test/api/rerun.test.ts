import { expect, test } from "vitest";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import type { RunMatrixReply } from "../../src/insight/run-matrix.ts";
import type { JobId, RunId } from "../../src/machine/job.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/compose/index.ts";
import { aRun, aTask, failed, workbench } from "../contract/store/run-fixture.ts";
import { openApi } from "./harness.ts";

test("a run of a kind that this release does not define is refused, and says what to do", async () => {
  const { call, store } = await openApi();
  const { runId } = await store.startRun(aRun({ kind: "gone" }));
  expect(await call("POST", `/runs/${runId}/rerun`)).toMatchObject({
    status: 409,
    body: { code: "not-rerunnable", detail: expect.stringContaining("only graphs and fan-outs of this release") },
  });
});

test("a run goes on by the newest version of its graph, or says what does not fit", async () => {
  const settlement = defineGraph({
    id: "settlement",
    version: 4,
    tasks(task) {
      const load = task("load", { run() {} });
      task("bill", { after: { load }, run() {} });
    },
  });
  const { call, store } = await openApi([defineApp({ name: "shop", jobs: [settlement] })]);
  const { runId, end } = await workbench(store, { tasks: [aTask("load"), aTask("gone", [0])] });
  await end("load");
  await end("gone", failed);
  const { body } = await call("POST", `/runs/${runId}/retry`, { newest: true });
  expect(body).toMatchObject({
    run: { version: 4, state: "RUNNING" },
    again: [expect.any(String), expect.any(String)],
  });
  const other = await workbench(store, { key: "other", tasks: [aTask("seed")] });
  await other.end("seed");
  expect(await call("POST", `/runs/${other.runId}/retry`, { newest: true })).toMatchObject({
    status: 409,
    body: { code: "changed-shape", detail: "removed: seed, which is SUCCESS" },
  });
  const foreign = await store.startRun(aRun({ kind: "gone" }));
  expect(await call("POST", `/runs/${foreign.runId}/retry`, { newest: true })).toMatchObject({
    status: 409,
    body: { code: "not-rerunnable" },
  });
});

test("the picture of a run has the run itself, its failures with their errors, and which tasks wait for their signal", async () => {
  const { call, store, pool } = await openApi();
  const wait = { wait: { ms: 60_000, forSignal: true } };
  const waiting = [
    aTask("asked", [], wait),
    aTask("given", [], wait),
    aTask("later", [2], wait),
    aTask("never", [0], wait),
  ];
  const tasks = [aTask("a"), aTask("b"), aTask("c", [1]), ...waiting];
  const { runId, end } = await workbench(store, { tasks });
  await end("a", failed);
  await end("b");
  await pool.query(`update belfry.job set started_at = finished_at - case task when 'a' then 1 else 2 end * interval '1 second'
    where started_at is not null`);
  await pool.query("update belfry.job set signaled_at = belfry.now() where task = 'given'");
  const { body: run } = await call("GET", `/runs/${runId}`);
  expect((await call("GET", `/runs/${runId}/map`)).body).toMatchObject({
    run,
    edges: [
      [1, 2],
      [2, 5],
      [0, 6],
    ],
    from: "2026-11-21T07:59:58.000Z",
    started: [1_000, 0, null, null, null, null, null],
    finished: [2_000, 2_000, null, null, null, null, 2_000],
    states: ["FAILED", "SUCCESS", "QUEUED", "PENDING", "PENDING", "PENDING", "SKIPPED"],
    signals: [3],
    failed: [{ task: "a", error: { code: "BAD", message: "no" } }],
  });
});

test("runs are listed newest first, by kind, key, state and parent, and their tasks in order, a page at a time", async () => {
  const { call, store, pool } = await openApi();
  const ids: RunId[] = [];
  for (const key of ["a", "b", "c"]) ids.push((await store.startRun(aRun({ key }))).runId);
  const [first = null] = ids;
  const { runId: again } = await store.startRun(aRun({ key: "a#2", parentId: first }));
  const tasks = [aTask("t"), aTask("u", [0])];
  const { runId: open } = await store.startRun(aRun({ kind: "other", tasks }));
  await store.resolve({ runs: "all", limit: 10 });
  const listed = async (query: string) => {
    const { body } = await call("GET", `/runs?${query}`);
    return body.runs.map(({ id }) => id);
  };
  expect(await listed("")).toEqual([open, again, ...ids.toReversed()]);
  expect(await listed("kind=settlement&limit=2")).toEqual([again, ids[2]]);
  expect(await listed(`kind=settlement&cursor=${ids[2]}`)).toEqual([ids[1], ids[0]]);
  expect(await listed("kind=none")).toEqual([]);
  expect(await listed("key=b")).toEqual([ids[1]]);
  expect(await listed("state=RUNNING")).toEqual([open]);
  expect(await listed(`parent=${first}`)).toEqual([again]);
  await pool.query("update belfry.run set created_at = created_at - (5 - id) * interval '1 minute'");
  expect(await listed("createdFrom=2026-11-21T07:58:00Z&createdTo=2026-11-21T08:00:00Z")).toEqual([again, ids[2]]);
  expect(await listed("createdFrom=2026-11-21T07:00:00Z&kind=settlement")).toEqual([again, ...ids.toReversed()]);
  const { body: page } = await call("GET", `/runs/${open}/tasks?limit=1`);
  expect(page.tasks).toMatchObject([{ task: "t", after: [], predecessors: { open: 0 } }]);
  const { body: rest } = await call("GET", `/runs/${open}/tasks?cursor=${page.nextCursor}`);
  expect(rest.tasks).toMatchObject([{ task: "u", after: [page.tasks[0]?.job], blocked: true }]);
  expect((await call("GET", `/runs/${open}/tasks?state=SUCCESS`)).body.tasks).toEqual([]);
});

test("beside a run stand the ten after it and those before, thirty of its kind in all, each with the states of its tasks", async () => {
  const { call, store, pool } = await openApi();
  const ids: RunId[] = [];
  for (let n = 0; n < 42; n += 1) {
    await store.startRun(aRun({ kind: "other", key: String(n), tasks: [aTask("other")] }));
    const tasks = n === 30 ? [] : [aTask("a"), aTask("b"), aTask(n === 20 ? "was-c" : "c", [1])];
    ids.push((await store.startRun(aRun({ key: String(n), tasks }))).runId);
  }
  const cancel = async (task: string) => {
    const { rows } = await pool.query<{ id: JobId }>("select id::text from belfry.job where task = $1", [task]);
    await store.cancel(
      rows.map(({ id }) => id),
      {},
    );
  };
  await cancel("b");
  const matrix = async (run: RunId | undefined) =>
    (await call("GET", `/runs/${run}/matrix`)).body as unknown as RunMatrixReply;
  const { tasks, runs, isMore } = await matrix(ids[25]);
  expect({ tasks, isMore, ids: runs.map(({ id }) => id) }).toEqual({
    tasks: ["a", "b", "c", "was-c"],
    isMore: false,
    ids: ids.slice(6, 36),
  });
  expect(runs[0]).toMatchObject({ state: "RUNNING", states: ["QUEUED", "CANCELED", "PENDING", null] });
  expect(runs[14]?.states).toEqual(["QUEUED", "CANCELED", null, "PENDING"]);
  expect(runs[24]?.jobs).toEqual([null, null, null, null]);
  expect((await matrix(ids[41])).runs.map(({ id }) => id)).toEqual(ids.slice(12));
  const names = Array.from({ length: insightLimits.matrixTasksMax + 1 }, (_, n) => `t${n}`);
  const wide = await store.startRun(aRun({ kind: "wide", tasks: names.map((name) => aTask(name)) }));
  expect(await matrix(wide.runId)).toMatchObject({ isMore: true });
  await cancel("t1");
  expect(await matrix(wide.runId)).toMatchObject({ tasks: names.slice(0, -1), isMore: true });
  await pool.query("delete from belfry.job where task = 't0'");
  expect(await matrix(wide.runId)).toMatchObject({ tasks: names.slice(1), isMore: false });
});
