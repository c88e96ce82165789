import { expect, onTestFinished, test, vi } from "vitest";
import { moveRange } from "../../src/cells/move.ts";
import { cellOf } from "../../src/cells/route.ts";
import type { CellMap } from "../../src/core/ports/cell-map.ts";
import { breaking, failing, gone, hanging, openCells } from "./front-world.ts";

type Cells = Awaited<ReturnType<typeof openCells>>;
const mapOf = async ({ stores }: Cells): Promise<CellMap> => (await stores.get("a")?.map()) as CellMap;
/** A text whose hash this cell has. */
const textIn = (map: CellMap, cell: string, prefix: string): string => {
  for (let n = 0; ; n += 1) if (cellOf(map, `${prefix}${n}`) === cell) return `${prefix}${n}`;
};
const keysIn = async (cells: Cells, cell: string): Promise<readonly string[]> =>
  (await cells.of(cell).world.pool.query<{ key: string }>("select key from belfry.job order by key")).rows.map(
    ({ key }) => key,
  );

test("a key is written once before, during and after its range moves", async () => {
  const cells = await openCells();
  const map = await mapOf(cells);
  const keys = Array.from({ length: 40 }, (_, n) => textIn(map, "a", `move-${n}-`));
  const range = { from: "00000000", to: "7fffffff" };
  const before = await cells.call("POST", "/jobs", { kind: "ping", key: keys[0] });
  expect(before).toMatchObject({ status: 201, body: { created: true, key: keys[0] } });
  // Both fronts read the map now; the move makes it old.
  const other = cells.frontWith();
  await other("POST", "/jobs", { kind: "ping", key: keys[0] });
  const writing = [cells.call, other].map(async (call) => {
    const answers = [];
    for (const key of keys) answers.push(await call("POST", "/jobs", { kind: "ping", key }));
    return answers;
  });
  await moveRange(cells.stores, { ...range, cell: "b" });
  await moveRange(cells.stores, { ...range, cell: "a" });
  await moveRange(cells.stores, { ...range, cell: "b" });
  const [one = [], two = []] = await Promise.all(writing);
  expect(one.map(({ body }) => body["id"])).toEqual(two.map(({ body }) => body["id"]));
  const after = await cells.call("POST", "/jobs", { kind: "ping", key: keys[0] });
  expect(after).toMatchObject({ status: 200, body: { created: false, id: before.body["id"], notes: [] } });
  expect([...(await keysIn(cells, "a")), ...(await keysIn(cells, "b"))].toSorted()).toEqual(keys.toSorted());
  const fresh = textIn(map, "a", "fresh-");
  await cells.call("POST", "/jobs", { kind: "ping", key: fresh });
  expect(await keysIn(cells, "b")).toContain(fresh);
  const conflict = await cells.call("POST", "/jobs", { kind: "greet", key: keys[0], payload: { name: "x" } });
  expect(conflict.status).toBe(201);
  const held = textIn(map, "a", "held-");
  await cells.of("a").world.call("POST", "/jobs", { kind: "greet", key: held, payload: { name: "x" } });
  expect(await cells.call("POST", "/jobs", { kind: "greet", key: held, payload: { name: "y" } })).toMatchObject({
    status: 409,
    body: { code: "key-conflict", conflict: { jobId: expect.any(String) } },
  });
}, 60_000);

test("what no cell may take is refused in the words of the API; a job without a key leaves out a cell that is away", async () => {
  const cells = await openCells();
  for (const body of [{ kind: "nothing" }, { kind: "greet", payload: {} }, {}, { kind: "ping", key: "k", more: 1 }]) {
    const [front, cell] = [
      await cells.call("POST", "/jobs", body),
      await cells.of("a").world.call("POST", "/jobs", body),
    ];
    expect([front.status, front.body["code"], front.body["detail"]]).toEqual([
      cell.status,
      cell.body.code,
      cell.body.detail,
    ]);
  }
  const map = await mapOf(cells);
  const call = cells.frontWith({ b: await gone() });
  for (let n = 0; n < 3; n += 1) expect((await call("POST", "/jobs", { kind: "ping" })).status).toBe(201);
  expect(await call("POST", "/jobs", { kind: "ping", key: textIn(map, "b", "k") })).toMatchObject({
    status: 503,
    body: { code: "cell-away", cell: "b" },
  });
});

test("a key in the header is routed as the API reads it, without its quotes", async () => {
  const cells = await openCells();
  const map = await mapOf(cells);
  const key = Array.from({ length: 99 }, (_, n) => `k${n}`).find(
    (text) => cellOf(map, text) === "b" && cellOf(map, `"${text}"`) === "a",
  );
  const made = await cells.call("POST", "/jobs", { kind: "ping" }, { "idempotency-key": `"${key}"` });
  expect(made).toMatchObject({ status: 201, body: { key } });
  expect(await keysIn(cells, "b")).toEqual([key]);
});

test("a job that a cell may have written is not given to another one", async () => {
  const cells = await openCells();
  const call = cells.frontWith({ b: await breaking() });
  const answers = [await call("POST", "/jobs", { kind: "ping" }), await call("POST", "/jobs", { kind: "ping" })];
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 503]);
  expect(answers.find(({ status }) => status === 503)?.body).toMatchObject({
    code: "cell-away",
    detail: expect.stringContaining("not known"),
  });
  expect(await keysIn(cells, "a")).toHaveLength(1);
});

test("a cell that answers with errors is away since the first of them", async () => {
  const cells = await openCells();
  const call = cells.frontWith({ b: await failing(503) });
  const sinceOf = async () => (await call("GET", "/lanes")).body["cellsAway"];
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 10, 21, 8) });
  onTestFinished(() => void vi.useRealTimers());
  const since = [{ cell: "b", since: "2026-11-21T08:00:00.000Z" }];
  expect(await sinceOf()).toEqual(since);
  vi.setSystemTime(Date.UTC(2026, 10, 21, 9));
  expect(await sinceOf()).toEqual(since);
});

test("a bulk action is one of all cells: its id is read, stopped and undone", async () => {
  const cells = await openCells();
  const map = await mapOf(cells);
  for (const cell of ["a", "b"])
    await cells.call("POST", "/jobs", { kind: "ping", key: textIn(map, cell, cell), delay: "1h" });
  const filter = { kind: "ping" };
  expect(await cells.call("POST", "/bulk", { action: "cancel", filter, dryRun: true })).toMatchObject({
    status: 200,
    body: { dryRun: true, matched: { count: 2, isMore: false }, cellsAway: [] },
  });
  const begun = await cells.call("POST", "/bulk", { action: "cancel", filter });
  expect(begun).toMatchObject({ status: 202, body: { action: "cancel", matched: { count: 2 } } });
  const id = String(begun.body["id"]);
  expect(id).toMatch(/^\d{13}-\d{13}$/);
  await expect
    .poll(() => cells.call("GET", `/bulk/${id}`))
    .toMatchObject({ status: 200, body: { id, state: "DONE", changed: 2, finishedAt: expect.any(String) } });
  const again = await cells.call("POST", "/bulk", { action: "retry", filter: { state: "CANCELED" }, pace: "1h" });
  // Stopped sooner, it might not have reached its second cell.
  await expect.poll(async () => (await cells.call("GET", "/jobs/counts")).body["CANCELED"]).toMatchObject({ count: 0 });
  expect(await cells.call("POST", `/bulk/${String(again.body["id"])}/stop`)).toMatchObject({
    status: 200,
    body: { id: again.body["id"] },
  });
  expect(await cells.call("POST", "/bulk", { action: "cancel", filter: {} })).toMatchObject({
    status: 422,
    body: { code: "no-filter" },
  });
  expect((await cells.call("GET", "/bulk")).body["bulks"]).toHaveLength(4);
  expect(await cells.call("GET", "/bulk/1000000000002-1000000000003")).toMatchObject({ status: 404 });
});

test("a schedule is made in the cell that has its id, and found there by name", async () => {
  const cells = await openCells();
  const map = await mapOf(cells);
  const id = textIn(map, "b", "night-");
  const made = { id, kind: "ping", cron: "0 3 * * *", timezone: "Asia/Seoul" };
  expect(await cells.call("POST", "/schedules", made)).toMatchObject({ status: 201, body: { id } });
  expect((await cells.of("a").world.call("GET", `/schedules/${id}`)).status).toBe(404);
  expect((await cells.of("b").world.call("GET", `/schedules/${id}`)).status).toBe(200);
  // Its range moves, it does not.
  await moveRange(cells.stores, { from: "80000000", to: "ffffffff", cell: "a" });
  expect(await cells.call("POST", "/schedules", made)).toMatchObject({
    status: 409,
    body: { code: "schedule-exists" },
  });
  expect(await cells.call("PATCH", `/schedules/${id}`, { cron: "0 4 * * *" })).toMatchObject({
    status: 200,
    body: { expression: expect.stringContaining("4") },
  });
  expect(await cells.call("POST", `/schedules/${id}/trigger`, {})).toMatchObject({ status: 201 });
  expect((await cells.call("GET", `/schedules/${id}/next`)).status).toBe(200);
  expect(await cells.call("GET", "/schedule-outcomes?limit=1&cursor=1")).toMatchObject({
    body: { schedules: [{ cell: "b" }], total: 3, nextCursor: "2" },
  });
  expect(await cells.call("DELETE", `/schedules/${id}`)).toMatchObject({ status: 200 });
  expect(await cells.call("GET", `/schedules/${id}`)).toMatchObject({ status: 200, body: { deleted: true } });
  expect((await cells.call("GET", "/schedules/never")).status).toBe(404);
  // Made once more it is a new one, in the cell that has its range now.
  expect(await cells.frontWith()("POST", "/schedules", made)).toMatchObject({ status: 201 });
  expect((await cells.of("a").world.call("GET", `/schedules/${id}`)).status).toBe(200);
  // Both cells install what code defines, in this test.
  expect(await cells.call("POST", "/schedules/ping-often/pause", {})).toMatchObject({
    status: 501,
    body: { code: "ask-the-cell", cells: ["a", "b"] },
  });
  expect((await cells.call("POST", "/schedules/ping-often/pause?cell=a", {})).status).toBe(200);
});

test("reads wait two seconds at most for a cell that hangs, and say since when it is away", async () => {
  const cells = await openCells();
  const [hangs, map] = [await hanging(), () => new Promise(() => {})];
  const paths = ["/summary?minutes=5", "/jobs", "/lanes", "/kind-figures", "/upcoming", "/schedule-outcomes", "/locks"];
  const asked = async () => {
    const call = cells.frontWith({ b: hangs }, { b: { map } });
    const startedMs = performance.now();
    const answers = await Promise.all(paths.map((path) => call("GET", path)));
    return { call, answers, tookMs: performance.now() - startedMs };
  };
  let best = await asked();
  // Beside other work the machine itself may take longer.
  for (let tries = 1; tries < 5 && best.tookMs >= 4_000; tries += 1) best = await asked();
  const { call, answers, tookMs } = best;
  expect(tookMs).toBeLessThan(4_000);
  for (const { status, body } of answers) {
    expect([status, body["cellsAway"]]).toEqual([200, [{ cell: "b", since: expect.stringMatching(/Z$/) }]]);
  }
  const keyed = textIn(await mapOf(cells), "a", "hang-");
  expect((await call("POST", "/jobs", { kind: "ping", key: keyed })).status).toBe(201);
}, 120_000);

/** Of one cell alone: docs/cells.md says why. */
const notMerged = ["GET /events", "GET /health", "GET /metrics", "GET /readyz"];

test("every route of the API answers over all cells, but those that docs/cells.md names", async () => {
  const cells = await openCells();
  const unmerged: string[] = [];
  const document = (await cells.call("GET", "/openapi.json")).body as { paths: Record<string, object> };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  expect(routes.length).toBeGreaterThan(45);
  for (const { method, path } of routes) {
    const answer = await cells.call(method, path.replaceAll(/\{\w+\}/g, "1"), method === "GET" ? undefined : {});
    if (answer.body["code"] === "ask-the-cell") unmerged.push(`${method} ${path}`);
  }
  expect(unmerged.toSorted()).toEqual(notMerged);
});
