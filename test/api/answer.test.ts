import { Hono } from "hono";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type JsonAnswer, jsonAnswer } from "../../src/api/json-answer.ts";
import { apiDate, apiVersion, plainHeaders } from "../../src/api/plain-headers.ts";
import { answerProblem, HttpProblem } from "../../src/api/problem.ts";
import { numbered, requestIdOf } from "../../src/api/request-id.ts";

type Headers = Record<string, string>;

const answered = (answer: JsonAnswer, headers: Headers = {}, path = "/jobs") =>
  Promise.resolve(
    new Hono().get("/jobs", (c) => jsonAnswer(c, answer)).request(`http://127.0.0.1${path}`, { headers }),
  );

test("an answer has its status, its JSON, and the headers that it names", async () => {
  const plain = await answered({ status: 200, body: Promise.resolve({ a: 1 }) });
  expect([plain.status, await plain.json(), Object.fromEntries(plain.headers)]).toEqual([
    200,
    { a: 1 },
    { "content-type": "application/json" },
  ]);
  const made = await answered({ status: 201, body: 5, location: "/jobs/7", etag: '"3"' });
  expect([made.status, Object.fromEntries(made.headers)]).toEqual([
    201,
    { "content-type": "application/json", location: "/jobs/7", etag: '"3"' },
  ]);
});

test.each<[string, unknown, string | null]>([
  ["/jobs", { nextCursor: "7" }, '</jobs?cursor=7>; rel="next"'],
  ["/jobs?limit=5&cursor=3", { nextCursor: "a b" }, '</jobs?limit=5&cursor=a+b>; rel="next"'],
  ["/jobs", { nextCursor: null }, null],
  ["/jobs", { nextCursor: 7 }, null],
  ["/jobs", {}, null],
  ["/jobs", null, null],
  ["/jobs", "nextCursor", null],
  ["/jobs", 5, null],
])("%s answered with %j links to %j", async (path, body, link) => {
  expect((await answered({ status: 200, body }, {}, path)).headers.get("link")).toBe(link);
});

const of = (characters: number): string => "a".repeat(characters - 2);

test.each<[string, string | undefined, boolean]>([
  [of(4_096), "gzip", true],
  [of(4_095), "gzip", false],
  [of(9_999), "deflate, gzip;q=0.5", true],
  [of(9_999), "gzip;q=0", false],
  [of(9_999), "gzip; q=0.0, br", false],
  [of(9_999), "br", false],
  [of(9_999), undefined, false],
])("%# an answer for a client that takes %s", async (body, taken, isZipped) => {
  const answer = await answered({ status: 200, body }, taken === undefined ? {} : { "accept-encoding": taken });
  expect(answer.headers.get("content-encoding")).toBe(isZipped ? "gzip" : null);
  expect(answer.headers.get("vary")).toBe(isZipped ? "accept-encoding" : null);
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(JSON.parse((isZipped ? gunzipSync(bytes) : bytes).toString())).toBe(body);
});

const problem = new HttpProblem("version-changed", "it changed", {
  issues: [{ path: "a", message: "is wrong" }],
  extra: { version: 4 },
  headers: { etag: '"4"' },
  cause: "why",
});

test.each([
  [problem, 412, '"4"', { title: "Precondition failed", errors: [{ path: "a", message: "is wrong" }], version: 4 }],
  [new HttpProblem("version-changed", "it changed"), 412, null, { title: "Precondition failed" }],
])("%# a problem is a document with what it says, and no more", async (error, status, etag, members) => {
  const answer = await new Hono().get("/", (c) => answerProblem(c, error)).request("/");
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.headers.get("etag")).toBe(etag);
  expect(await answer.json()).toEqual({
    type: "urn:belfry:problem:version-changed",
    status,
    code: "version-changed",
    detail: "it changed",
    requestId: "",
    ...members,
  });
});

test("a problem has empty parts where none are named", () => {
  const { issues, extra, headers, cause } = new HttpProblem("internal", "");
  expect({ issues, extra, headers, cause }).toEqual({ issues: [], extra: {}, headers: {}, cause: undefined });
});

test("a request has a number of its own, in its answer as well; a foreign request has none", async () => {
  let ids = 0;
  const api = new Hono().use(numbered({ next: () => 0, id: () => `id-${(ids += 1)}` }));
  api.get("/", (c) => c.text(requestIdOf(c.req.raw)));
  for (const id of ["id-1", "id-2"]) {
    const answer = await api.request("/");
    expect([answer.headers.get("x-request-id"), await answer.text()]).toEqual([id, id]);
  }
  expect(requestIdOf(new Request("http://127.0.0.1/"))).toBe("");
});

const headersOf = async (path: string, own: Headers): Promise<Headers> => {
  const api = new Hono().use(plainHeaders).get("*", (c) => c.body(null, 200, own));
  return Object.fromEntries((await api.request(path)).headers);
};
const version = { "belfry-version": apiDate };
const kept = { "x-content-type-options": "nosniff", "cache-control": "no-store" };
const closed = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
};

test.each<[string, Headers, Headers]>([
  ["/jobs", {}, { ...version, ...kept, ...closed }],
  ["/jobs", { "cache-control": "no-cache" }, { ...version, ...kept, ...closed, "cache-control": "no-cache" }],
  ["/jobs", { "x-content-type-options": "own" }, { ...version, ...kept, ...closed, "x-content-type-options": "own" }],
  ["/console/", { "content-security-policy": "own" }, { ...version, ...kept, "content-security-policy": "own" }],
  ["/apps/shop", {}, { ...version, ...kept }],
  ["/apps", {}, { ...version, ...kept, ...closed }],
])("%s, answered with %j, has the headers %j", async (path, own, headers) => {
  expect(await headersOf(path, own)).toEqual(headers);
});

test.each([
  [undefined, null],
  [apiDate, null],
  ["2020-01-01", `header belfry-version: must be ${apiDate}, the version this server speaks, or be left out`],
])("the version %s of a client", async (asked, refusal) => {
  const api = new Hono().use(apiVersion).get("/", (c) => c.text(""));
  api.onError((error, c) => c.text(error.message));
  const headers: Headers = asked === undefined ? {} : { "belfry-version": asked };
  expect(await (await api.request("/", { headers })).text()).toBe(refusal ?? "");
});
