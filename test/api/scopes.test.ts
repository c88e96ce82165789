import { expect, test } from "vitest";
import { endpointsOf } from "../../src/api/api.ts";
import type { Caller } from "../../src/api/caller.ts";
import type { OperationName } from "../../src/api/api.ts";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { boundsOf } from "../../src/api/scope.ts";
import { registry } from "../../src/define/definition.ts";
import { answers, apiOf, apps, bounded, everybody, leaks, neutral, planted, requests } from "./scope-world.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => planted());

test("every operation of the document keeps a caller with a scope to its part: what is another's is refused, and lists leave it out", async () => {
  expect(opened.documentation.operations.map(({ name }) => name).toSorted()).toEqual(Object.keys(requests).toSorted());
  expect(await leaks(opened, (request) => opened.api.fetch(request))).toEqual([]);
  const own = await answers(opened, "own", (request) => opened.api.fetch(request));
  const refused = own.filter(({ isRefused }) => isRefused).map(({ name }) => name);
  expect(refused.toSorted()).toEqual(["getMetrics", "listAudits", "listLocks"]);
  expect(own.filter(({ isRefused, status }) => !isRefused && (status === 403 || status >= 500))).toEqual([]);
  const shown = own.filter(({ text }) => /own-/.test(text)).map(({ name }) => name);
  expect(shown).toEqual(
    expect.arrayContaining(["listJobs", "listRuns", "listSchedules", "listDeadLetters", "listKinds"]),
  );
});

test("an operation that forgets its scope is found, whichever it is", async () => {
  const forgetful = apiOf(opened, bounded, (each) => ({
    ...each,
    scope: "nothing",
    handle: (asked) => each.handle({ ...asked, within: boundsOf(registry(apps), undefined) }),
  }));
  const found = [];
  // Reads come first: a write that nothing holds back changes what they show.
  for (const isRead of [true, false]) {
    const only = ({ method }: Endpoint) => (method === "GET") === isRead;
    found.push(...(await leaks(opened, (request) => forgetful.fetch(request), only)));
  }
  const all = Object.keys(requests) as OperationName[];
  expect(found.toSorted()).toEqual(all.filter((name) => !neutral.includes(name)).toSorted());
});

test("a live stream shows a caller with a scope its jobs alone, in the snapshot and in what follows", async () => {
  const { cursor } = JSON.parse(
    (
      await answers(
        opened,
        "own",
        (request) => opened.api.fetch(request),
        ({ name }) => name === "listEvents",
      )
    )[0]?.text ?? "",
  ) as { cursor: string };
  for (const whose of ["own", "other"])
    await apiOf(opened, everybody).request("/jobs", {
      method: "POST",
      body: JSON.stringify({ kind: `${whose}-job` }),
      headers: { "content-type": "application/json" },
    });
  const accept = "text/event-stream";
  for (const headers of [{ accept }, { accept, "last-event-id": cursor }]) {
    const text = await (
      await opened.api.fetch(new Request("http://127.0.0.1/events", { headers: { host: "127.0.0.1", ...headers } }))
    ).text();
    expect(text).toMatch(/own-job/);
    expect(text).not.toMatch(/other/);
  }
});

test("a scope that names nothing sees nothing, in a list, a count or the stream", async () => {
  const opened = await planted({ ...everybody, scope: { apps: [], lanes: [] } });
  for (const whose of ["own", "other"] as const) {
    const seen = await answers(opened, whose, (request) => opened.api.fetch(request));
    expect(seen.filter(({ text, isRefused }) => !isRefused && /own-|other-/.test(text))).toEqual([]);
  }
  expect((await opened.call("GET", "/jobs")).body).toMatchObject({ jobs: [], complete: true });
  expect((await opened.call("GET", "/jobs/counts")).body).toMatchObject({
    PENDING: { count: 0 },
    FAILED: { count: 0 },
  });
});

test("a role that only reads has its scope too", async () => {
  const opened = await planted({ ...bounded, role: "read" });
  expect(await opened.call("GET", `/jobs/${opened.ids.own.job}`)).toMatchObject({ status: 200 });
  expect(await opened.call("POST", `/jobs/${opened.ids.own.job}/cancel`)).toMatchObject({
    body: { code: "needs-operate" },
  });
  expect(opened.logged.at(-1)).toMatchObject({ message: "request refused", fields: { code: "needs-operate" } });
  expect(await opened.call("GET", `/jobs/${opened.ids.other.job}`)).toMatchObject({ body: { code: "unknown-job" } });
});

test("another's job or run is answered as one that does not exist, on every route that names one", async () => {
  const { call, ids, options } = opened;
  const routes = endpointsOf(options).filter(({ path }) => /^\/(jobs|runs)\/:id/.test(path));
  expect(routes.length).toBeGreaterThanOrEqual(12);
  for (const { method, path } of routes) {
    const ask = async (id: string) => {
      const { status, body } = await call(method, path.replace(":id", id).replace(":attempt", "1"));
      return { status, body: { ...body, requestId: "", detail: body.detail.replace(` ${id}`, " N") } };
    };
    const missing = await ask("987654321");
    const other = path.startsWith("/jobs") ? ids.other.job : ids.other.run;
    expect({ method, path, ...(await ask(other)) }).toEqual({ method, path, ...missing });
    expect(missing.status).toBe(404);
  }
});

test("a name that is not known brings no names of others to mind", async () => {
  const { call } = opened;
  expect(await call("GET", "/schedules/own-mad/occurrences")).toMatchObject({ body: { near: ["own-made"] } });
  const { body } = await call("GET", "/schedules/other-mad/occurrences");
  expect(body).toMatchObject({ code: "unknown-schedule" });
  expect(JSON.stringify(body)).not.toContain("other-made");
});

test("filters for another's kind are refused, and those without a kind find and change only what is within", async () => {
  const { call, pool, ids } = opened;
  for (const path of [
    "/jobs?kind=other-job",
    "/jobs/counts?kind=other-job",
    "/events?kind=other-job",
    "/dead-letters?kind=other-job",
  ])
    expect(await call("GET", path)).toMatchObject({ status: 403, body: { code: "outside-scope" } });
  for (const method of ["PUT", "PATCH"])
    for (const [name, kind] of [
      ["own-made", "other-job"],
      ["other-made", "own-job"],
    ])
      expect(await call(method, `/schedules/${name}`, { kind, every: "1h" })).toMatchObject({
        status: 403,
        body: { code: "outside-scope" },
      });
  expect((await call("GET", "/jobs?key=other-key")).body.jobs).toEqual([]);
  expect((await call("GET", "/jobs?lane=other-lane")).body.jobs).toEqual([]);
  expect(await call("POST", "/bulk", { action: "cancel", filter: { state: "PENDING" }, dryRun: true })).toMatchObject({
    body: { matched: { count: 1 } },
  });
  const begun = (await call("POST", "/bulk", { action: "cancel", filter: { state: "PENDING" } })).body.id;
  await expect
    .poll(async () => (await call("GET", `/bulk/${begun}`)).body)
    .toMatchObject({ state: "DONE", changed: 1 });
  const { rows } = await pool.query("select state from belfry.job where id = $1", [ids.other.job]);
  expect(rows).toEqual([{ state: "PENDING" }]);
  expect(await call("POST", "/bulk", { action: "cancel", filter: {}, dryRun: true })).toMatchObject({ status: 422 });
});

test("a schedule that was deleted stays with those who might see the kind that it had last", async () => {
  const api = apiOf(opened, everybody);
  const headers = { "content-type": "application/json" };
  for (const [name, kind] of [
    ["own-made", "other-job"],
    ["other-made", "own-job"],
  ]) {
    await api.request(`/schedules/${name}`, { method: "PATCH", body: JSON.stringify({ kind }), headers });
    await api.request(`/schedules/${name}`, { method: "DELETE" });
  }
  const { call } = opened;
  expect(await call("GET", "/schedules/other-made")).toMatchObject({ status: 200, body: { deleted: true } });
  for (const path of ["", "/occurrences", "/explain?time=09:00"])
    expect(await call("GET", `/schedules/own-made${path}`)).toMatchObject({ body: { code: "outside-scope" } });
});

test("a bulk action over kinds of which one is outside is read and stopped by those alone who may see all of them", async () => {
  const both: Caller = { name: "bob", role: "operate", scope: { apps: ["own-app", "other-app"] } };
  const body = JSON.stringify({ action: "retry", filter: { key: "none" } });
  const headers = { "content-type": "application/json" };
  const begun = await apiOf(opened, both).request("/bulk", { method: "POST", body, headers });
  const { id } = (await begun.json()) as { id: string };
  expect((await apiOf(opened, both).request(`/bulk/${id}`)).status).toBe(200);
  expect(await opened.call("GET", `/bulk/${id}`)).toMatchObject({ body: { code: "outside-scope" } });
  expect(await opened.call("POST", `/bulk/${id}/stop`)).toMatchObject({ body: { code: "outside-scope" } });
});

test("the routes of an app are within a scope that has all of its kinds", async () => {
  const { call } = opened;
  expect(await call("GET", "/apps/own-app/x")).toMatchObject({ status: 200 });
  expect(await call("GET", "/apps/other-app/x")).toMatchObject({ status: 403, body: { code: "outside-scope" } });
});

test("a graph brings its tasks of other lanes into a scope by lane", () => {
  const byLane = boundsOf(registry(apps), { lanes: ["own-lane"] });
  expect(byLane.search.kinds?.toSorted()).toEqual(["own-graph.first", "own-job"]);
  const byGraphs = boundsOf(registry(apps), { lanes: ["default"] });
  expect(byGraphs.hasKind("own-graph.first")).toBe(true);
});

test("the overview of a caller with a scope counts what is within, and the whole stage for others", async () => {
  const whole = await planted(everybody);
  const [all, part] = [whole, await planted()].map(async ({ call }) => (await call("GET", "/summary")).body);
  expect(await all).toMatchObject({ live: { total: 4 }, deadLetters: { count: 2 }, lanes: { total: 3 } });
  expect(await part).toMatchObject({ live: { total: 2 }, deadLetters: { count: 1 }, lanes: { total: 1 } });
});

test("what holds a job is named to a caller with a scope only where it lies within", async () => {
  const { pool, store, ids } = opened;
  await store.installSlots([{ key: "lock:shared", size: 1, onRefusal: "hold", reason: "slot" }]);
  const waits = "set hold = 'slot', held_on = 'lock:shared', slot_keys = '{lock:shared}', due_at = belfry.now()";
  await pool.query(`update belfry.job ${waits} where id = $1`, [ids.own.job]);
  const holders = async (caller: Caller) => {
    const answer = await apiOf(opened, caller).request(`/jobs/${ids.own.job}/explain`);
    return ((await answer.json()) as { waitsFor: string[] }).waitsFor;
  };
  const hold = async (id: string) =>
    await pool.query("update belfry.slot set job_id = $1, attempt = 1 where key = 'lock:shared'", [id]);
  await hold(ids.other.job);
  expect([await holders(everybody), await holders(bounded)]).toEqual([[ids.other.job], []]);
  await hold(ids.own.job);
  expect(await holders(bounded)).toEqual([ids.own.job]);
});

test("what held the job of a schedule is named only to a caller that may see it", async () => {
  const { pool, ids } = opened;
  const held = "set hold = 'slot', held_on = 'lock:shared', slot_keys = '{lock:shared}', due_at = belfry.now()";
  await pool.query(`update belfry.job ${held} where id = $1`, [ids.own.job]);
  await pool.query(
    `insert into belfry.occurrence (schedule_id, local_time, fold, timezone, nominal_at, outcome, reason, schedule_version, job_id, planned_at, decided_at)
     values ('own-made', '2026-11-21T07:00', 0, 'UTC', '2026-11-21T07:00Z', 'SKIPPED', 'lock-held', 1, $1, belfry.now(), belfry.now())`,
    [ids.own.job],
  );
  await pool.query(`update belfry.job set slot_keys = '{lock:shared}', started_at = belfry.now() where id = $1`, [
    ids.other.job,
  ]);
  await pool.query(
    `insert into belfry.history (job_id, at, from_state, to_state, attempt, generation, started_at)
     values ($1, belfry.now() + interval '1 hour', 'RUNNING', 'FAILED', 1, 1, belfry.now() - interval '1 hour')`,
    [ids.other.job],
  );
  const answer = async (caller: Caller) =>
    await (await apiOf(opened, caller).request("/schedules/own-made/explain?time=07:00")).text();
  expect(await answer(everybody)).toContain(`${ids.other.job} (other-job)`);
  const own = await answer(bounded);
  expect(own).toContain("another job");
  expect(own).not.toContain("other-job");
});
