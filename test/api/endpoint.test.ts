import { Hono } from "hono";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { AuditedChange, AuditTrail } from "../../src/api/audit-trail.ts";
import type { Caller } from "../../src/api/caller.ts";
import { allowed, endpoint, type Endpoint, type MountOptions, mount } from "../../src/api/endpoint.ts";
import { answerProblem, HttpProblem } from "../../src/api/problem.ts";
import type { ScopeRule } from "../../src/api/scope.ts";
import { sensitiveKinds } from "../../src/api/sensitive.ts";
import { shownTo } from "../../src/api/shown.ts";
import { DatabaseError, DatabaseUnavailable } from "../../src/adapters/postgres/failure.ts";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { registry } from "../../src/core/define/definition.ts";
import { UnknownOutcome } from "../../src/core/ports/ports.ts";

const pay = defineJob({ id: "pay", payload: z.object({ card: z.string().meta({ sensitive: true }) }), run() {} });
const known = registry([defineApp({ name: "shop", jobs: [pay], schedules: [] })]);
const marked = () => Promise.resolve(sensitiveKinds(known.jobs.values()));
const none = () => Promise.resolve(sensitiveKinds([]));
const ada: Caller = { name: "ada", role: "operate" };
const spec = { name: "createJob", summary: "", scope: "nothing", replies: {} } as const;
const ok = (body: unknown = null) => ({ status: 200, body }) as const;

interface World extends Partial<MountOptions> {
  readonly caller?: Caller | null;
}

/** The endpoints alone: what they answer, and what the audit was asked to note. */
function serve(endpoints: readonly Endpoint[], { caller = ada, ...more }: World = {}) {
  const noted: (AuditedChange & { readonly unless?: boolean })[] = [];
  const audit: AuditTrail = { note: (change, options) => Promise.resolve(void noted.push({ ...change, ...options })) };
  const api = new Hono();
  mount(api, endpoints, { identify: () => caller, audit, marks: none, registry: known, ...more });
  api.onError((error, c) =>
    answerProblem(c, error instanceof HttpProblem ? error : new HttpProblem("internal", error.message)),
  );
  const call = async (at: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = "", path = ""] = at.split(" ");
    const answer = await api.request(`http://127.0.0.1${path}`, {
      method,
      headers: body === undefined ? headers : { "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === "" ? null : (JSON.parse(text) as Record<string, unknown>) };
  };
  return { call, noted };
}

test.each([
  ["GET", "read"],
  ["POST", "operate"],
  ["PUT", "operate"],
  ["PATCH", "operate"],
  ["DELETE", "operate"],
] as const)("%s needs the role %s", (method, role) => {
  expect(endpoint(`${method} /jobs/:id`, { ...spec, handle: () => ok() })).toMatchObject({
    method,
    path: "/jobs/:id",
    role,
  });
});

test("who is not known is refused, and who may only read changes nothing", () => {
  const reader: Caller = { name: "bob", role: "read" };
  for (const role of ["read", "operate"] as const) {
    expect(() => allowed(role, null)).toThrow(expect.objectContaining({ status: 401, code: "unknown-caller" }));
    expect(allowed(role, ada)).toBe(ada);
  }
  expect(allowed("read", reader)).toBe(reader);
  expect(() => allowed("operate", reader)).toThrow('bob may read but not change anything: ask for the role "operate"');
});

test("a read is answered and noted nowhere; it heeds no header of a write", async () => {
  const { call, noted } = serve([endpoint("GET /jobs", { ...spec, handle: () => ok({ jobs: 3 }) })]);
  const headers = { "if-match": '"3"', "idempotency-key": "a", "content-type": "text/plain" };
  expect(await call("GET /jobs", undefined, headers)).toEqual({ status: 200, body: { jobs: 3 } });
  expect(noted).toEqual([]);
});

test("a response of its own is answered as it is", async () => {
  const { call, noted } = serve([
    endpoint("GET /jobs", { ...spec, handle: () => new Response('{"own":1}', { status: 202 }) }),
    endpoint("POST /jobs", { ...spec, handle: () => new Response('{"own":2}', { status: 201 }) }),
  ]);
  expect(await call("GET /jobs")).toEqual({ status: 202, body: { own: 1 } });
  expect(await call("POST /jobs")).toEqual({ status: 201, body: { own: 2 } });
  expect(noted).toMatchObject([{ status: 201, unless: false }]);
});

const create = (handle: Endpoint["handle"]) =>
  endpoint("POST /jobs/:id", {
    ...spec,
    params: z.object({ id: z.string() }),
    body: z.strictObject({ a: z.number() }),
    handle,
  });

test.each([
  ["a change", ok({ id: 7 }), 200, false],
  ["nothing that changed", { ...ok({ id: 7 }), unchanged: true } as const, 200, true],
])("a write notes %s", async (_what, answer, status, unless) => {
  const { call, noted } = serve([create(() => answer)]);
  expect(await call("POST /jobs/7", { a: 1 })).toEqual({ status, body: { id: 7 } });
  const change = { caller: "ada", action: "POST /jobs/:id", target: "/jobs/7", trace: "", body: { a: 1 } };
  expect(noted).toEqual([{ ...change, status, unless }]);
});

const fails = (error: Error) => () => Promise.reject(error);
const http = (code: "no-such-route" | "bad-json" | "unknown-caller" | "body-too-large" | "not-json" | "key-conflict") =>
  new HttpProblem(code, "");

test.each([
  [http("bad-json"), 400, "bad-json", true],
  [http("body-too-large"), 413, "body-too-large", true],
  [http("not-json"), 415, "not-json", true],
  [http("unknown-caller"), 401, "unknown-caller", false],
  [http("no-such-route"), 404, "no-such-route", false],
  [http("key-conflict"), 409, "key-conflict", false],
  [new UnknownOutcome(""), 503, "outcome-unknown", false],
  [new DatabaseUnavailable(""), 503, "store-away", false],
  [new DatabaseError("", { code: "55P03" }), 503, "store-busy", false],
  [new TypeError("a defect"), 500, "internal", false],
])("a write that fails with %s is answered and noted with its status %d", async (error, status, code, unless) => {
  const { call, noted } = serve([create(fails(error))]);
  expect(await call("POST /jobs/7", { a: 1 })).toMatchObject({ status, body: { code } });
  expect(noted).toMatchObject([{ status, unless, body: { a: 1 } }]);
});

/** A note that is written later: whether the answer waited for it. */
async function waits(handle: Endpoint["handle"]): Promise<boolean> {
  let isWritten = false;
  const later = new Promise<void>((resolve) => {
    setImmediate(() => {
      isWritten = true;
      resolve();
    });
  });
  const { call } = serve([create(handle)], { audit: { note: () => later } });
  await call("POST /jobs/7", { a: 1 });
  return isWritten;
}

test("an answer waits for its note", async () => {
  expect(await waits(() => ok())).toBe(true);
  expect(await waits(fails(http("key-conflict")))).toBe(true);
  expect(await waits(fails(new TypeError("a defect")))).toBe(true);
});

test.each([new DatabaseUnavailable(""), new UnknownOutcome(""), new DatabaseError("", { code: "57P03" })])(
  "a store that does not answer, with %s, is not waited for again",
  async (error) => {
    const never = new Promise<void>(() => undefined);
    const { call } = serve([create(fails(error))], { audit: { note: () => never } });
    expect(await call("POST /jobs/7", { a: 1 })).toMatchObject({ status: 503 });
  },
);

describe("what is sensitive", () => {
  const job = { kind: "pay", payload: { card: "1234" } };
  const hidden = { kind: "pay", payload: { card: "[hidden]" } };
  const bob: Caller = { ...ada, name: "bob", hides: true };
  const filtered = { filter: { text: "1234" } };

  test("is hidden from a caller that hides, where a kind marks anything", async () => {
    expect(await shownTo(bob, job, marked)).toEqual(hidden);
    expect(await shownTo(ada, job, marked)).toEqual(job);
    expect(await shownTo(bob, filtered, none)).toEqual(filtered);
  });

  const list = () =>
    endpoint("GET /jobs", {
      ...spec,
      query: z.looseObject({}),
      handle: async ({ shown }) => ok([job, await shown(job)]),
    });
  const find = () => endpoint("POST /bulk", { ...spec, body: z.looseObject({}), handle: () => ok(job) });

  test("is hidden in each answer, and by `shown` for what streams", async () => {
    const { call } = serve([list(), find()], { caller: bob, marks: marked });
    expect(await call("GET /jobs")).toMatchObject({ body: [hidden, hidden] });
    expect(await call("POST /bulk", {})).toMatchObject({ body: hidden });
    expect(await serve([list()], { marks: marked }).call("GET /jobs")).toMatchObject({ body: [job, job] });
  });

  test.each<[string, string, unknown]>([
    ["text", "GET /jobs?text=1234", undefined],
    ["payload", "GET /jobs?payload=1234", undefined],
    ["payload.card", "GET /jobs?payload.card=1234", undefined],
    ["text", "POST /bulk", { filter: { kind: "pay", text: "1234" } }],
    ["payload", "POST /bulk", { filter: { payload: { card: "1234" } } }],
  ])("is not found by %s in %s either", async (name, at, body) => {
    expect(await serve([list(), find()], { caller: bob, marks: marked }).call(at, body)).toMatchObject({
      status: 403,
      body: { code: "needs-reveal", detail: `bob does not see what is sensitive, so ${name} is no filter for it` },
    });
    for (const world of [{ marks: marked }, { caller: bob, marks: none }]) {
      expect(await serve([list(), find()], world).call(at, body)).toMatchObject({ status: 200 });
    }
  });

  test("leaves other filters", async () => {
    const { call } = serve([list(), find()], { caller: bob, marks: marked });
    for (const at of ["GET /jobs?kind=pay", "GET /jobs?payloads=1", "GET /jobs?context=1"]) {
      expect(await call(at)).toMatchObject({ status: 200 });
    }
    expect(await call("POST /bulk", { filter: { kind: "pay" } })).toMatchObject({ status: 200 });
    expect(await call("POST /bulk", { text: "1234" })).toMatchObject({ status: 200 });
  });
});

test.each<[Caller["scope"], ScopeRule<unknown>, number]>([
  [undefined, "everything", 200],
  [undefined, () => ({ kinds: ["other"] }), 200],
  [{ apps: ["shop"] }, "everything", 403],
  [{ apps: ["shop"] }, "nothing", 200],
  [{ apps: ["shop"] }, () => ({ kinds: ["pay"] }), 200],
  [{ apps: ["shop"] }, () => ({ kinds: ["other"] }), 403],
  [{ apps: [] }, () => ({ kinds: ["pay"] }), 403],
])("a caller with the scope %j may ask about %s: %d", async (scope, about, status) => {
  const each = endpoint("GET /jobs", { ...spec, scope: about, handle: ({ within }) => ok({ isAll: within === null }) });
  const { call } = serve([each], { caller: scope === undefined ? ada : { ...ada, scope } });
  const answer = await call("GET /jobs");
  expect(answer.status).toBe(status);
  expect(answer.body?.["isAll"]).toBe(status === 403 ? undefined : scope === undefined);
});

const bare = () =>
  endpoint("POST /bare", {
    ...spec,
    handle: ({ body }) => ok({ body: body === undefined ? "none" : "some" }),
  });
const keyed = () =>
  endpoint("POST /keyed", {
    ...spec,
    takesKey: true,
    hasVersion: true,
    body: z.strictObject({ key: z.string().optional(), a: z.number().optional() }),
    handle: ({ body }) => ok(body),
  });
const notKnown = "(root): is not known here: this request has no body";
const twice = "header idempotency-key: must be the key of the body, or one of the two be left out";
const k = { "idempotency-key": "k" };

test.each<[string, unknown, Record<string, string>, unknown]>([
  ["POST /bare", undefined, {}, { body: "none" }],
  ["POST /bare", {}, {}, { body: "none" }],
  ["POST /bare", { a: 1 }, {}, notKnown],
  ["POST /bare", [], {}, notKnown],
  ["POST /bare", null, {}, notKnown],
  ["POST /bare", 5, {}, notKnown],
  ["POST /bare", "", {}, notKnown],
  ["POST /bare?x=1", undefined, {}, "?x: is not known here"],
  ["POST /bare", undefined, k, expect.stringContaining("header idempotency-key: is not taken here")],
  ["POST /bare", undefined, { "if-match": '"3"' }, expect.stringContaining("header if-match: is not taken here")],
  ["POST /keyed", undefined, {}, {}],
  ["POST /keyed", { a: 1 }, { "if-match": '"3"' }, { a: 1 }],
  ["POST /keyed", { a: 1 }, k, { a: 1, key: "k" }],
  ["POST /keyed", undefined, k, { key: "k" }],
  ["POST /keyed", { key: "k" }, k, { key: "k" }],
  ["POST /keyed", { key: "own" }, {}, { key: "own" }],
  ["POST /keyed", { key: "own" }, k, twice],
  ["POST /keyed", { key: 5 }, k, twice],
  ["POST /keyed", null, k, "(root): must be an object"],
  ["POST /keyed", "text", k, '(root): must be an object, not "text"'],
])("%s with the body %j and the headers %j", async (at, body, headers, answer) => {
  const given = await serve([bare(), keyed()]).call(at, body, headers);
  expect(given.status === 200 ? given.body : given.body?.["detail"]).toEqual(answer);
  expect([200, 400]).toContain(given.status);
});
