import { expect, test, vi } from "vitest";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { claimOne, failure, settleOne } from "../contract/store/fixture.ts";
import { app, openApi, startOfTime } from "./harness.ts";
import { plantJobs } from "../support/plant-jobs.ts";
import { eachTest } from "../support/each-test.ts";

const opened = eachTest(() => openApi());
const { call } = opened;

const json = { host: "127.0.0.1:4400", "content-type": "application/json" };
const graphs = defineApp({
  name: "graphs",
  jobs: [defineGraph({ id: "steps", version: 1, tasks: (task) => void task("first", { run: () => null }) })],
});

test("the header Idempotency-Key is the key of a create, and refused where nothing would heed it", async () => {
  const keyed = { ...json, "idempotency-key": '"once"' };
  const first = await call("POST", "/jobs", { kind: "ping" }, keyed);
  const again = await call("POST", "/jobs", { kind: "ping" }, keyed);
  expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
  expect((await call("POST", "/jobs", { kind: "ping", key: "other" }, keyed)).status).toBe(400);
  expect((await call("POST", `/jobs/${first.body.id}/cancel`, undefined, keyed)).status).toBe(400);
});

test("a repeated create with another due time hears that it moved nothing", async () => {
  const { store } = opened;
  const due = (hour: number) => ({ kind: "ping", key: "k", dueAt: `2026-11-22T0${hour}:00:00Z` });
  await call("POST", "/jobs", due(1));
  expect(await call("POST", "/jobs", due(1))).toMatchObject({ status: 200, body: { notes: [] } });
  const later = { kind: "ping", key: "later", delay: "10m" };
  await call("POST", "/jobs", later);
  expect(await call("POST", "/jobs", later), "the same delay is the same time").toMatchObject({
    status: 200,
    body: { notes: [] },
  });
  const both = { kind: "ping", key: "both", dueAt: "2026-11-22T01:00:00Z", delay: "10m" };
  await call("POST", "/jobs", both);
  expect((await call("POST", "/jobs", both)).body).toMatchObject({ notes: [] });
  const started = { kind: "ping", key: "started", dueAt: new Date(startOfTime).toISOString() };
  const { id } = (await call("POST", "/jobs", started)).body;
  await settleOne(store, await claimOne(store, id), failure);
  expect((await call("POST", "/jobs", started)).body).toMatchObject({ attempt: 1, notes: [] });
  const moved = await call("POST", "/jobs", due(2));
  expect(moved.body).toMatchObject({ notes: [expect.stringContaining("dueAt was not applied")] });
});

test("a schedule that changed since it was read is not overwritten", async () => {
  const { api } = opened;
  await call("POST", "/schedules", { id: "nightly", kind: "ping", cron: "0 3 * * *", timezone: "UTC" });
  const read = await api.fetch(new Request("http://127.0.0.1/schedules/nightly", { headers: json }));
  const tag = read.headers.get("etag") ?? "";
  const edit = (cron: string) => call("PATCH", "/schedules/nightly", { cron }, { ...json, "if-match": tag });
  expect(await edit("0 4 * * *")).toMatchObject({ status: 200, body: { expression: "0 4 * * *" } });
  expect(await edit("0 5 * * *")).toMatchObject({ status: 412, body: { code: "version-changed" } });
});

test("a read that the client holds already is a 304 until any of it changes, and its tag serves an edit too", async () => {
  const { api, store } = opened;
  await call("POST", "/schedules", { id: "nightly", kind: "ping", cron: "0 3 * * *", timezone: "UTC" });
  const read = (headers: object = {}) =>
    api.fetch(new Request("http://127.0.0.1/schedules/nightly", { headers: { ...json, ...headers } }));
  const tag = (await read()).headers.get("etag") ?? "";
  for (const held of [tag, `"other", W/${tag}`, "*"]) {
    const answer = await read({ "if-none-match": held });
    expect([answer.status, await answer.text(), answer.headers.get("etag")]).toEqual([304, "", tag]);
  }
  expect((await read({ "if-none-match": '"1"' })).status).toBe(200);
  const { body } = await call("PATCH", "/schedules/nightly", { overlap: "skip" }, { ...json, "if-match": tag });
  expect(body).toMatchObject({ version: 2 });
  expect((await read({ "if-none-match": tag })).status).toBe(200);
  const held = (await read()).headers.get("etag") ?? "";
  await store.pauseSchedule("nightly", { until: null, by: "ada", reason: null });
  expect((await read({ "if-none-match": held })).status, "a pause is no version").toBe(200);
});

test("two people who change different settings at once overwrite nothing of each other", async () => {
  await call("POST", "/schedules", { id: "nightly", kind: "ping", cron: "0 3 * * *", timezone: "UTC" });
  const edits = [{ cron: "0 4 * * *" }, { overlap: "skip" }, { misfire: "latest" }, { enabled: false }];
  const answers = await Promise.all(edits.map((edit) => call("PATCH", "/schedules/nightly", edit)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await call("GET", "/schedules/nightly")).body).toMatchObject({
    expression: "0 4 * * *",
    overlap: "skip",
    misfire: "latest",
    enabled: false,
  });
});

test("a schedule that changes while it is edited keeps that change, whichever versions the editor would take", async () => {
  const { store } = opened;
  await call("POST", "/schedules", { id: "nightly", kind: "ping", cron: "0 3 * * *", timezone: "UTC" });
  const { scheduleFacts } = store;
  vi.spyOn(store, "scheduleFacts").mockImplementationOnce(async (id) => {
    const facts = await scheduleFacts(id);
    await call("PATCH", "/schedules/nightly", { overlap: "skip" });
    return facts;
  });
  const edit = () => call("PATCH", "/schedules/nightly", { cron: "0 4 * * *" }, { ...json, "if-match": '"1", "2"' });
  expect(await edit()).toMatchObject({ status: 412, body: { code: "version-changed" } });
  expect(await edit()).toMatchObject({ status: 200, body: { expression: "0 4 * * *", overlap: "skip" } });
});

test.each(["1", "abc", '"1', "1, 2", ""])(
  "an If-Match that is no tag is refused as such, not as another version: %j",
  async (tag) => {
    await call("POST", "/schedules", { id: "nightly", kind: "ping", every: "1h" });
    const answer = await call("PATCH", "/schedules/nightly", { every: "2h" }, { ...json, "if-match": tag });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ path: "header if-match" }] } });
  },
);

test.each(["PUT", "PATCH", "DELETE"])("%s is held to the version that If-Match names, in the store", async (method) => {
  const nightly = { kind: "ping", cron: "0 3 * * *", timezone: "UTC" };
  await call("POST", "/schedules", { id: "nightly", ...nightly });
  const body = method === "DELETE" ? undefined : nightly;
  for (const tag of ['"2"', '"zzz"', 'W/"1"', '""']) {
    const answer = await call(method, "/schedules/nightly", body, { ...json, "if-match": tag });
    expect({ tag, ...answer }).toMatchObject({ tag, status: 412, body: { code: "version-changed", version: 1 } });
  }
  expect((await call(method, "/schedules/nightly", body, { ...json, "if-match": '"9", "1"' })).status).toBe(200);
});

test("a task of a graph is refused at the door, with the graph to start instead", async () => {
  const { call } = await openApi([app, graphs]);
  const { body } = await call("POST", "/jobs", { kind: "steps.first" });
  expect(body).toMatchObject({ code: "not-startable", near: ["steps"] });
  const schedule = { id: "s", kind: "steps.first", every: "1h" };
  expect((await call("POST", "/schedules", schedule)).body.code).toBe("not-startable");
});

test("an integer that JSON would round is refused instead of stored as its neighbour", async () => {
  for (const n of ["9007199254740993", "-5.456069530624998e+16"]) {
    const body = `{"kind":"greet","payload":{"name":"x","n":${n}}}`;
    expect(await call("POST", "/jobs", body)).toMatchObject({ status: 400, body: { code: "not-storable" } });
  }
});

test("a list may be written with commas or by repeating its name, as generated clients do", async () => {
  await call("POST", "/jobs", { kind: "ping", key: "k", delay: "1h" });
  for (const query of ["state=PENDING,FAILED", "state=PENDING&state=FAILED", "state=FAILED&state=PENDING"]) {
    expect((await call("GET", `/jobs?${query}`)).body.jobs).toHaveLength(1);
  }
  expect((await call("GET", "/jobs?state=FAILED&state=SUCCESS")).body.jobs).toEqual([]);
  expect(await call("GET", "/jobs?kind=ping&kind=greet")).toMatchObject({
    status: 400,
    body: { errors: [{ path: "?kind", message: expect.stringContaining("twice") }] },
  });
});

test("writes without a body need no content type, and a parameter of an odd name lists nothing", async () => {
  const { body } = await call("POST", "/jobs", { kind: "ping", delay: "1h" });
  expect((await call("POST", `/jobs/${body.id}/cancel`, undefined, { host: "127.0.0.1" })).status).toBe(200);
  expect((await call("POST", `/jobs/${body.id}/run-now`, "null")).status, "null is no body").not.toBe(400);
  expect((await call("POST", "/schedules/ping-often/trigger", "null")).status).toBe(201);
  expect((await call("GET", "/jobs?__proto__=1")).status).toBe(400);
});

test("a page of another port of this machine is refused, and a link may open a page", async () => {
  const from = (headers: object) => call("GET", "/jobs", undefined, { ...json, ...headers });
  expect((await from({ origin: "http://127.0.0.1:9999" })).status).toBe(403);
  expect((await from({ "sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors" })).status).toBe(403);
  expect((await from({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" })).status).toBe(200);
  expect((await from({ "sec-fetch-site": "same-origin" })).status).toBe(200);
});

test("the audit has the request's id and an HMAC of a payload, and nothing of a repeat", async () => {
  const body = { kind: "greet", payload: { name: "secret-token" }, key: "k" };
  await call("POST", "/jobs", body);
  await call("POST", "/jobs", body);
  const { audits } = (await call("GET", "/audits")).body as unknown as { audits: { trace: string; detail: object }[] };
  expect(audits).toHaveLength(1);
  expect(JSON.stringify(audits)).not.toContain("secret-token");
  expect(audits[0]).toMatchObject({
    trace: expect.stringMatching(/^trace-/),
    detail: { payload: { hmac: expect.stringMatching(/^[\da-f]{64}$/) } },
  });
});

test("a large answer is compressed for a client that takes it, and says that it must not be kept", async () => {
  const { api } = opened;
  for (let n = 0; n < 12; n += 1) await call("POST", "/jobs", { kind: "ping", key: `k${n}` });
  const get = (path: string) =>
    api.fetch(new Request(`http://127.0.0.1${path}`, { headers: { ...json, "accept-encoding": "gzip" } }));
  const large = await get("/jobs?limit=11");
  expect(Object.fromEntries(large.headers)).toMatchObject({
    "content-encoding": "gzip",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    link: expect.stringMatching(/^<\/jobs\?limit=11&cursor=\d+>; rel="next"$/),
  });
  expect((await get("/livez")).headers.has("content-encoding")).toBe(false);
});

test("what is wrong with a body or a parameter is said in this API's own words", async () => {
  const detail = async (method: string, path: string, body?: unknown) => (await call(method, path, body)).body.detail;
  for (const body of ["null", "[]", "7", '"x"']) {
    expect(await detail("POST", "/jobs", body)).toMatch(/^\(root\): must be an object/);
  }
  expect(await detail("POST", "/jobs", { payload: null })).toBe("kind: is missing");
  expect(await detail("POST", "/jobs", { kind: true })).toBe("kind: must be a text");
  expect(await detail("PUT", "/caps/shout", { size: 0 })).toBe("size: must be at least 1, not 0");
  expect(await detail("PUT", "/caps/shout", { size: 1.5 })).toBe("size: must be a whole number, not 1.5");
  expect(await detail("GET", "/jobs?stat=FAILED")).toBe("?stat: is not known here: did you mean state or sort?");
  const bulk = { action: "cancel", filter: { kindd: "ping" }, dryRun: "yes" };
  expect(await detail("POST", "/bulk", bulk)).toBe(
    'filter.kindd: is not known here: did you mean kind?; dryRun: must be true or false, not "yes"',
  );
});

test("the document's own path has its methods too, and a client that refuses gzip gets none", async () => {
  const { api } = opened;
  expect(await call("POST", "/openapi.json")).toMatchObject({ status: 405, body: { code: "method-not-allowed" } });
  const headers = { ...json, "accept-encoding": "br, gzip;q=0" };
  const plain = await api.fetch(new Request("http://127.0.0.1/openapi.json", { headers }));
  expect(plain.headers.has("content-encoding")).toBe(false);
});

test("an audit row names the role and the session of a signed caller apart", async () => {
  const role = "aws-reserved/sso.amazonaws.com/Operators";
  const { call } = await openApi([app], {
    caller: { name: `arn:aws:sts::111122223333:assumed-role/${role}/ada@example.com`, role: "operate" },
  });
  await call("POST", "/jobs", { kind: "ping" });
  expect((await call("GET", "/audits")).body).toMatchObject({ audits: [{ role, session: "ada@example.com" }] });
  const local = await openApi();
  await local.call("POST", "/jobs", { kind: "ping" });
  expect((await local.call("GET", "/audits")).body).toMatchObject({
    audits: [{ caller: "ada", role: null, session: null }],
  });
});

test("a backfill of the future is refused, because its schedule plans that", async () => {
  const body = { from: "2027-01-01T00:00:00Z", to: "2027-01-02T00:00:00Z", force: true };
  expect(await call("POST", "/schedules/ping-often/backfill", body)).toMatchObject({
    status: 409,
    body: { code: "backfill-refused", detail: expect.stringContaining("in the future") },
  });
});

test.each([
  { "content-encoding": "gzip" },
  { "content-type": "application/json; charset=utf-16" },
  { "content-type": "application/jsonp" },
])("a body in another encoding than UTF-8 JSON is refused instead of read wrongly: %j", async (other) => {
  const answer = await call("POST", "/jobs", '{"kind":"ping"}', { ...json, ...other });
  expect(answer).toMatchObject({ status: 415, body: { code: "not-json" } });
});

test("an Accept that excludes what an operation answers with is refused, before anything is written", async () => {
  const send = (accept: string, path = "/jobs") => call("POST", path, { kind: "ping" }, { ...json, accept });
  for (const accept of ["application/xml", "text/html, application/json;q=0", "text/event-stream"])
    expect(await send(accept)).toMatchObject({ status: 406, body: { code: "not-acceptable" } });
  expect((await call("GET", "/jobs")).body.jobs).toEqual([]);
  for (const accept of ["", "text/html, */*;q=0.1", "application/*", "Application/JSON;charset=utf-8"])
    expect(await send(accept)).toMatchObject({ status: 201 });
});

test("a name that stands twice in one object is refused with its place", async () => {
  const { body } = await call("POST", "/jobs", '{"kind":"ping","kind":"hello"}');
  expect(body).toMatchObject({
    errors: [{ path: "kind", message: "stands twice in one object, again before character 21" }],
  });
});

test("a count of health that stops at its bound says that there are more", async () => {
  const { pool } = opened;
  await plantJobs(pool, "PENDING", 1_100);
  expect((await call("GET", "/health")).body).toMatchObject({ counts: { PENDING: { count: 1_000, isMore: true } } });
});
