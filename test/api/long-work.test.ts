import { expect, test } from "vitest";
import { registry } from "../../src/define/definition.ts";
import { finishRemovals } from "../../src/schedule/finish-removals.ts";
import { aRun, aTask } from "../contract/store/run-fixture.ts";
import { openApi } from "./harness.ts";
import { mostWork } from "./most-work.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => openApi());
const { call, pool } = opened;
const count = 1_200;

async function aLargeRun(): Promise<string> {
  const { runId } = await opened.store.startRun(aRun({ kind: "wide", sealed: true, tasks: [] }));
  await plantJobs(opened.pool, "PENDING", count, { run_id: runId });
  return runId;
}

test("the cancel of a large run is answered after a page, goes on by itself and says in its history who asked", async () => {
  const { api, call, pool } = opened;
  const run = await aLargeRun();
  const headers = { host: "127.0.0.1" };
  const begun = await api.fetch(new Request(`http://127.0.0.1/runs/${run}/cancel`, { method: "POST", headers }));
  expect([begun.status, begun.headers.get("location")]).toEqual([202, `/runs/${run}`]);
  expect(await begun.json()).toMatchObject({ canceled: 1_000, run: { state: "CANCELING" } });
  await expect
    .poll(async () => (await call("GET", `/runs/${run}/tasks?limit=1&state=PENDING`)).body)
    .toMatchObject({ tasks: [] });
  const { rows } = await pool.query(
    "select caller, count(*)::int as jobs from belfry.history where reason = 'run canceled' group by 1",
  );
  expect(rows).toEqual([{ caller: "ada", jobs: count }]);
});

test("a lane with much on hold is on at once, and the rest of it is released after the answer", async () => {
  const { call, pool } = opened;
  await call("POST", "/lanes/default/pause");
  await plantJobs(pool, "PENDING", count, { hold: "'paused'", held_on: "'lane:default'" });
  expect(await call("POST", "/lanes/default/resume")).toMatchObject({
    status: 202,
    body: { paused: false, released: 1_000 },
  });
  const held = async (): Promise<unknown> =>
    (await pool.query("select from belfry.job where hold = 'paused'")).rowCount;
  await expect.poll(held).toBe(0);
  expect(await call("POST", "/lanes/default/resume")).toMatchObject({ status: 200, body: { released: 0 } });
});

test("bulk actions are listed in pages, each with its filter as it was asked for", async () => {
  const { call } = await openApi();
  const filter = { state: ["PENDING"], kind: "ping", dueTo: "2026-11-22T00:00:00.000Z", payload: { "user.id": "7" } };
  const first = await call("POST", "/bulk", { action: "cancel", filter });
  expect(first).toMatchObject({ status: 202, body: { filter } });
  const second = await call("POST", "/bulk", { action: "cancel", filter: { kind: "ping", text: "a b", error: "E" } });
  expect(second.body).toMatchObject({ filter: { kind: "ping", text: "a b", error: "E" } });
  const page = (await call("GET", "/bulk?limit=1")).body;
  expect(page).toMatchObject({ bulks: [{ id: second.body.id }], nextCursor: second.body.id });
  expect((await call("GET", `/bulk?limit=1&cursor=${page.nextCursor}`)).body).toMatchObject({
    bulks: [{ id: first.body.id }],
    nextCursor: null,
  });
});

test("every write says how much work one request may be, and answers 202 exactly where that may be long", async () => {
  const { documentation } = await openApi();
  const writes = documentation.operations.filter(({ method }) => method !== "GET");
  expect(writes.map(({ name }) => name).toSorted()).toEqual(Object.keys(mostWork).toSorted());
  const begun = writes.filter(({ statuses }) => statuses.includes("202")).map(({ name }) => name);
  expect(begun.toSorted()).toEqual(
    Object.entries(mostWork)
      .flatMap(([name, { answers }]) => ((answers as readonly number[]).includes(202) ? [name] : []))
      .toSorted(),
  );
});

/** Jobs that have ended in a run that FAILED. */
async function plantEnded(run: string, state: "FAILED" | "SKIPPED", jobs: number): Promise<readonly string[]> {
  const ids = await plantJobs(pool, state, jobs, { run_id: run, end_counted: "true" });
  await pool.query(
    `update belfry.run r set state = 'FAILED', finished_at = belfry.now(), (total, done, failed, skipped) = (
       select count(*), count(*), count(*) filter (where state = 'FAILED'), count(*) filter (where state = 'SKIPPED')
       from belfry.job where run_id = r.id) where id = $1`,
    [run],
  );
  return ids;
}

async function bulkDone(id: unknown): Promise<void> {
  const state = async () => (await call("GET", `/bulk/${String(id)}`)).body;
  await expect.poll(state, { timeout: 120_000 }).toMatchObject({ state: "DONE" });
}

test("the retry of a large run is a bulk action, puts back every failed job once and leaves the run open until they end", async () => {
  const { call, pool } = opened;
  const { runId: run } = await opened.store.startRun(aRun({ kind: "wide", tasks: [] }));
  await plantEnded(run, "FAILED", count);
  const begun = await call("POST", `/runs/${run}/retry`);
  expect(begun).toMatchObject({ status: 202, body: { action: "retry", filter: { run }, matched: { count } } });
  await bulkDone(begun.body.id);
  expect((await call("GET", `/bulk/${begun.body.id}`)).body).toMatchObject({ changed: count, refused: 0 });
  expect((await call("GET", `/runs/${run}`)).body).toMatchObject({
    state: "RUNNING",
    progress: { total: count, done: 0 },
  });
  const { rows } = await pool.query(
    "select caller, count(*)::int as jobs from belfry.history where reason = 'resumed' group by 1",
  );
  expect(rows).toEqual([{ caller: "ada", jobs: count }]);
  expect(await call("POST", `/runs/${run}/retry`)).toMatchObject({ status: 409, body: { code: "nothing-to-retry" } });
});

test("the retry of a job takes thousands that were skipped because of it along, as a bulk action", async () => {
  const { call, store, pool } = opened;
  const { runId } = await store.startRun(aRun({ tasks: [] }));
  const [first = ""] = await plantEnded(runId, "FAILED", 1);
  const behind = await plantEnded(runId, "SKIPPED", count);
  await pool.query(
    "insert into belfry.edge (from_id, to_id, run_id, wide) select $1, unnest($2::bigint[]), $3, false",
    [first, behind, runId],
  );
  const begun = await call("POST", `/jobs/${first}/retry`);
  expect(begun).toMatchObject({ status: 202, body: { matched: { count: 1 } } });
  await bulkDone(begun.body.id);
  expect((await call("GET", `/bulk/${begun.body.id}`)).body).toMatchObject({ changed: 1, takenAlong: count });
  expect((await call("GET", `/runs/${runId}`)).body).toMatchObject({
    state: "RUNNING",
    progress: { done: 0, waiting: count },
  });
});

test("the cancel of a job does not wait for what its run does about it", async () => {
  const { api, call, store, ports } = opened;
  const { runId } = await store.startRun(aRun({ tasks: [aTask("first"), aTask("second", [0])] }));
  const [first] = await store.tasks(runId);
  const resolving = Promise.withResolvers<void>();
  const resolve: typeof store.resolve = async (options) => {
    await resolving.promise;
    return await store.resolve(options);
  };
  Object.assign(ports, { store: { ...store, resolve } });
  const headers = { host: "127.0.0.1" };
  const answer = await api.fetch(
    new Request(`http://127.0.0.1/jobs/${first?.jobId}/cancel`, { method: "POST", headers }),
  );
  expect([answer.status, answer.headers.get("location")]).toEqual([202, `/runs/${runId}`]);
  expect(await answer.json()).toMatchObject({ state: "CANCELED" });
  resolving.resolve();
  await expect
    .poll(async () => (await call("GET", `/runs/${runId}`)).body)
    .toMatchObject({ state: "FAILED", progress: { done: 2 } });
});

test("a schedule of which thousands of jobs wait is deleted at once; passes cancel them, and the health says what is left", async () => {
  const { call, pool, ports } = opened;
  await call("POST", "/schedules", { id: "busy", kind: "ping", every: "10m" });
  await plantJobs(pool, "PENDING", 2 * count, { schedule_id: "'busy'" });
  await pool.query(`insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, schedule_version, job_id, planned_at)
    select 'busy', id::text, 0, 'UTC', belfry.now() - id * interval '1 minute', 'PLANNED', 1, id, belfry.now() from belfry.job`);
  expect(await call("DELETE", "/schedules/busy")).toMatchObject({ status: 200, body: { waiting: 1_000 } });
  const left = async () => (await call("GET", "/health")).body.removedJobs;
  const canceled: (number | undefined)[] = [];
  while ((await left()) > 0) {
    const { signal } = new AbortController();
    canceled.push((await finishRemovals(ports, registry([]), { signal }))["jobs.canceled"]);
  }
  expect(canceled.reduce((sum, n) => (sum ?? 0) + (n ?? 0), 0)).toBe(2 * count);
});
