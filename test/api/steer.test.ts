import { expect, test, vi } from "vitest";
import type { JobId } from "../../src/machine/job.ts";
import { createLaneGate } from "../../src/run/claim.ts";
import { upkeep } from "../../src/insight/upkeep.ts";
import { runBulkPage } from "../../src/insight/run-bulk.ts";
import { openApi } from "./harness.ts";
import { beginBulk, nextBulk, readBulks } from "../../src/insight/bulk.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";
import { soon } from "../support/soon.ts";

const opened = eachTest(() => openApi());

async function post(path: string, body: object = {}) {
  const { status, body: answer } = await opened.call("POST", path, body);
  return { status, body: answer as unknown as Record<string, unknown> };
}

async function create(body: object = { kind: "ping" }): Promise<JobId> {
  return (await opened.call("POST", "/jobs", body)).body.id;
}

async function bulkEnds(id: unknown): Promise<Record<string, unknown>> {
  let last: Record<string, unknown> = {};
  await soon(async () => {
    last = (await opened.call("GET", `/bulk/${String(id)}`)).body as unknown as Record<string, unknown>;
    expect(last["state"]).toBe("DONE");
  });
  return last;
}

test("a paused lane holds what arrives, starts nothing, and starts all of it when it is resumed", async () => {
  const gate = createLaneGate({ ...opened.ports, lane: "default" });
  const first = await create();
  const message = (jobId: JobId, generation = 1) => ({ jobId, generation, trace: "" });
  expect(await gate.hold([message(first)])).toEqual([]);
  expect(await post("/lanes/default/pause")).toMatchObject({ status: 200, body: { paused: true } });
  await opened.advance(1_000);
  const id = await create();
  expect(await gate.hold([message(id)])).toEqual([id]);
  const held = (await opened.call("GET", `/jobs/${id}`)).body as unknown as Record<string, unknown>;
  expect(held).toMatchObject({
    state: "PENDING",
    phase: "paused",
    events: [{}, { to: "PENDING", reason: "lane paused" }],
  });
  expect(await opened.store.relay({ limit: 10 })).toEqual([]);
  const { lanes } = (await opened.call("GET", "/lanes")).body as unknown as { lanes: unknown[] };
  expect(lanes).toMatchObject([{ name: "default", paused: true, pausedBy: "ada", held: { paused: 1 }, waiting: 1 }]);
  expect(await post("/lanes/default/resume")).toMatchObject({ body: { paused: false, released: 1 } });
  expect((await opened.call("GET", `/jobs/${id}`)).body).toMatchObject({ state: "QUEUED" });
  expect(await post("/lanes/defalt/pause")).toMatchObject({ status: 404, body: { near: ["default"] } });
  const kind = held["kind"] as string;
  expect(await post(`/lanes/kind:${kind.slice(1)}/pause`)).toMatchObject({ body: { near: [`kind:${kind}`] } });
  expect(await post(`/lanes/kind:${kind}/pause`)).toMatchObject({ status: 200, body: { paused: true } });
  expect((await opened.call("GET", "/summary")).body).toMatchObject({ lanes: { total: 2, paused: 1 } });
  await opened.advance(1_000);
  expect(await gate.hold([message(first)])).toEqual([first]);
  expect(await post(`/lanes/kind:${kind}/resume`)).toMatchObject({ body: { released: 1 } });
  expect((await opened.call("GET", `/jobs/${first}`)).body).toMatchObject({ state: "QUEUED" });
});

test("a job that a worker put on hold a moment after its lane was resumed is let go by the upkeep, and no other", async () => {
  const { store, tally } = opened;
  await post("/lanes/default/pause");
  const id = await create();
  const arrived = { jobId: id, generation: 1, trace: "" };
  expect(await store.holdClosed([arrived])).toEqual([id]);
  // As when the resume had released what was held before this one.
  await store.pauseLane("default", null);
  expect(await store.relay({ limit: 10 })).toEqual([]);
  const round = async () => {
    const ended = new AbortController();
    const going = upkeep(
      { ...opened.options, tally },
      {
        owner: "o",
        signal: ended.signal,
      },
    );
    ended.abort();
    await going;
  };
  await post("/lanes/default/pause");
  await round();
  expect(await store.relay({ limit: 10 })).toEqual([]);
  await store.pauseLane("default", null);
  await round();
  expect(await store.relay({ limit: 10 })).toMatchObject([{ messages: [{ jobId: id }] }]);
});

test("an old message in the same batch does not keep the newest one's job from being put on hold", async () => {
  await post("/lanes/default/pause");
  const id = await create();
  const messages = [0, 1].map((generation) => ({ jobId: id, generation, trace: "" }));
  expect(await opened.store.holdClosed(messages)).toEqual([id]);
});

test("retrying all that match counts first, answers at once, and shows its progress to the end", async () => {
  await plantJobs(opened.pool, "FAILED", 1_200);
  await plantJobs(opened.pool, "FAILED", 3, { error_code: "'OTHER'" });
  const filter = { state: "FAILED", error: "BROKEN" };
  const dry = await post("/bulk", { action: "retry", filter, dryRun: true });
  expect(dry).toMatchObject({ status: 200, body: { dryRun: true, matched: { count: 1_200, isMore: false } } });
  const begun = await post("/bulk", { action: "retry", filter });
  expect(begun).toMatchObject({ status: 202, body: { state: "RUNNING", caller: "ada", matched: { count: 1_200 } } });
  expect(await bulkEnds(begun.body["id"])).toMatchObject({ changed: 1_200, refused: 0 });
  const { rows } = await opened.pool.query(
    "select state, count(*)::int n from belfry.job group by state order by state",
  );
  expect(rows).toEqual([
    { state: "QUEUED", n: 1_200 },
    { state: "FAILED", n: 3 },
  ]);
});

test("after a page that failed this process goes on with the next action", async () => {
  const { insight, logged } = opened;
  await plantJobs(opened.pool, "FAILED", 3);
  const { run } = insight;
  let isAway = true;
  insight.run = async (query, params) => {
    if (query.name !== "bulk-take" || !isAway) return await run(query, params);
    isAway = false;
    throw new Error("away");
  };
  const begin = async () => await post("/bulk", { action: "retry", filter: { state: "FAILED" } });
  await begin();
  await vi.waitFor(() =>
    expect(logged.map(({ message }) => message)).toContainEqual(expect.stringMatching("stopped here")),
  );
  expect(await bulkEnds((await begin()).body["id"])).toMatchObject({ state: "DONE" });
});

test("another process goes on with a change whose process died, and a stopped one changes nothing more", async () => {
  await plantJobs(opened.pool, "FAILED", 1_100);
  const { insight } = opened;
  const bulk = await beginBulk(insight, {
    action: "cancel",
    search: { states: ["QUEUED"] },
    caller: "ada",
    matched: { count: 0, isMore: false },
    paceMs: 0,
    steps: [],
  });
  const step = (owner: string) => runBulkPage(opened.options, { owner });
  expect(await nextBulk(insight, "dead")).toMatchObject({ id: bulk.id });
  expect(await step("other")).toBe(false);
  await opened.advance(11_000);
  expect(await step("other")).toBe(true);
  expect(await insight.run(readBulks, { id: bulk.id, limit: 1 })).toMatchObject([{ state: "DONE", changed: 0 }]);
  const retry = { action: "retry", search: { states: ["FAILED"] }, caller: "ada", paceMs: 0, steps: [] } as const;
  const second = await beginBulk(insight, { ...retry, matched: { count: 1_100, isMore: false } });
  expect(await step("other")).toBe(true);
  expect(await post(`/bulk/${second.id}/stop`)).toMatchObject({ body: { state: "STOPPED", changed: 500 } });
  expect(await step("other")).toBe(false);
});

test.each([
  [{ action: "retry", filter: {} }, 422],
  [{ action: "retry" }, 400],
  [{ action: "delete", filter: { kind: "ping" } }, 400],
  [{ action: "retry", filter: { sate: "FAILED" } }, 400],
  [{ action: "retry", filter: { kind: "ping" }, pace: "soon" }, 400],
  [{ action: "cancel", filter: { kind: "ping", state: ["FAILED"] } }, 422],
])("a bulk action that is not clear is refused: %j", async (body, status) => {
  expect((await post("/bulk", body)).status).toBe(status);
});

test("a cap is changed while its jobs run, also for jobs that are made later, and says what the code says; what has none is refused with what is near", async () => {
  expect(await opened.call("PUT", "/caps/shout", { size: 5 })).toMatchObject({
    status: 200,
    body: { kind: "shout", size: 5, code: 2 },
  });
  const { rows } = await opened.pool.query("select size from belfry.slot_group where key = 'cap:shout'");
  expect(rows).toEqual([{ size: 5 }]);
  await create({ kind: "shout" });
  expect((await opened.pool.query("select size from belfry.slot_group where key = 'cap:shout'")).rows).toEqual(rows);
  expect(await opened.call("PUT", "/caps/shuot", { size: 5 })).toMatchObject({ status: 404, body: { code: "no-cap" } });
  expect(await opened.call("PUT", "/caps/ping", { size: 5 })).toMatchObject({ status: 404 });
});

test("a cap that is raised starts at once what waits for it", async () => {
  const ids = [await create({ kind: "shout" }), await create({ kind: "shout" })];
  await opened.call("PUT", "/caps/shout", { size: 1 });
  const hints = ids.map((jobId) => ({ jobId, generation: 1, trace: "" }));
  await opened.store.claim(hints, { worker: "w", alone: false });
  const heldOn = async () => await Promise.all(ids.map(async (id) => (await opened.store.job(id))?.heldOn));
  expect(new Set(await heldOn())).toEqual(new Set(["cap:shout", null]));
  await opened.call("PUT", "/caps/shout", { size: 2 });
  expect(await heldOn()).toEqual([null, null]);
});
