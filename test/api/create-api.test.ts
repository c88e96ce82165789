import { describe, expect, test } from "vitest";
import { createApi, endpointsOf } from "../../src/api/api.ts";
import { operations } from "../../src/api/document/operations.ts";
import type { ApiOptions } from "../../src/api/options.ts";
import { HttpProblem } from "../../src/api/problem.ts";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { registry } from "../../src/core/define/definition.ts";
import { type Log, UnknownOutcome } from "../../src/core/ports/ports.ts";

const fails = { error: null as Error | null };
const fail = (): Promise<never> => Promise.reject(fails.error ?? new Error("no error was planted"));
const shop = () =>
  defineApp({
    name: "shop",
    jobs: [defineJob({ id: "pay", run() {} })],
    schedules: [],
    routes: { fetch: fail },
  });
const logged: { readonly level: string; readonly message: string; readonly fields: unknown }[] = [];
const level = (name: string) => (message: string, fields?: unknown) =>
  void logged.push({ level: name, message, fields });
const log: Log = { debug() {}, info() {}, warn: level("warn"), error: level("error"), child: () => log };

/** Nothing of it answers: what a test asks must be refused, or served, before the store. */
const options = () =>
  ({
    ports: { store: { job: fail }, log, random: { next: () => 0, id: () => "id-1" } },
    operations: { note: () => Promise.resolve(), stageKey: () => Promise.resolve(new Uint8Array(32)) },
    registry: registry([shop()]),
    lanes: [],
    locks: { read: fail },
    client: {},
    version: "1.2.3",
  }) as unknown as ApiOptions;
const page = { bytes: new TextEncoder().encode("<html>"), gzip: new Uint8Array(), type: "text/html" };
const consoleFiles = () => Promise.resolve(new Map([["index.html", page]]));

const worlds = {
  plain: () => createApi(options()),
  signed: () => createApi({ ...options(), access: "signed" }),
  unknown: () => createApi({ ...options(), identify: () => null }),
  reader: () => createApi({ ...options(), identify: () => ({ name: "bob", role: "read" }) }),
  console: () => createApi({ ...options(), console: consoleFiles }),
};

async function ask(world: keyof typeof worlds, at: string, headers: Record<string, string> = {}) {
  const [method = "", url = ""] = at.split(" ");
  const answer = await worlds[world]().request(new URL(url, "http://127.0.0.1/"), {
    method,
    headers: { host: "127.0.0.1", ...headers },
  });
  const text = await answer.text();
  const body = answer.headers.get("content-type")?.includes("json") ? (JSON.parse(text) as object) : text;
  return { status: answer.status, body, allow: answer.headers.get("allow"), location: answer.headers.get("location") };
}

test("each documented operation has one endpoint, under its own method and path", () => {
  const endpoints = endpointsOf(options());
  expect(endpoints.map(({ name }) => name).toSorted()).toEqual(Object.keys(operations).toSorted());
  expect(new Set(endpoints.map(({ method, path }) => `${method} ${path}`)).size).toBe(endpoints.length);
});

test("the document is served, and names the version", async () => {
  expect(await ask("plain", "GET /openapi.json")).toMatchObject({ status: 200, body: { info: { version: "1.2.3" } } });
});

test.each<[keyof typeof worlds, string, Record<string, string>, number, string | null]>([
  ["plain", "GET /openapi.json", { host: "example.com" }, 403, "foreign-host"],
  ["signed", "GET /openapi.json", { host: "example.com" }, 200, null],
  ["plain", "GET /openapi.json", { origin: "http://example.com" }, 403, "foreign-origin"],
  ["plain", "GET /openapi.json", { "belfry-version": "2020-01-01" }, 400, "invalid-request"],
  ["unknown", "GET /jobs/x", {}, 401, "unknown-caller"],
  ["reader", "GET /jobs/x", {}, 400, "invalid-request"],
  ["reader", "POST /jobs/7/cancel", {}, 403, "needs-operate"],
  ["plain", "POST /jobs/x/cancel", {}, 400, "invalid-request"],
  ["plain", "GET /other", {}, 404, "no-such-route"],
  ["plain", "DELETE /jobs/7", {}, 405, "method-not-allowed"],
])("%s: %s with %j answers %d", async (world, at, headers, status, code) => {
  logged.length = 0;
  const answer = await ask(world, at, headers);
  expect(answer.status).toBe(status);
  expect((answer.body as { code?: string }).code ?? null).toBe(code);
  const isRefused = status === 401 || status === 403;
  expect(logged).toMatchObject(isRefused ? [{ level: "warn", message: "request refused", fields: { code } }] : []);
});

test.each<[keyof typeof worlds, string, number, string | null]>([
  ["plain", "/openapi.json", 204, "GET, HEAD, OPTIONS"],
  ["plain", "/jobs/7", 204, "GET, HEAD, OPTIONS"],
  ["plain", "/console", 404, null],
  ["plain", "/console/", 404, null],
  ["plain", "/other", 404, null],
  ["console", "/openapi.json", 204, "GET, HEAD, OPTIONS"],
  ["console", "/console", 204, "GET, HEAD, OPTIONS"],
  ["console", "/console/", 204, "GET, HEAD, OPTIONS"],
])("%s: OPTIONS %s answers %d", async (world, path, status, allow) => {
  expect(await ask(world, `OPTIONS ${path}`)).toMatchObject({ status, allow });
});

test("the console is there where it has files", async () => {
  expect(await ask("console", "GET /console/")).toMatchObject({ status: 200, body: "<html>" });
  expect(await ask("console", "GET /")).toMatchObject({ status: 302, location: "/console/" });
  expect(await ask("plain", "GET /console/")).toMatchObject({ status: 404 });
  expect(await ask("plain", "GET /")).toMatchObject({ status: 404 });
});

describe("a request that fails", () => {
  const defect = new Error("a defect");
  const cause = new Error("the cause");
  const unknown = new UnknownOutcome("");

  test.each<[string, Error, number, string, unknown]>([
    ["GET /jobs/7", defect, 500, "internal", defect],
    ["GET /jobs/7", unknown, 503, "store-away", unknown],
    ["POST /apps/shop/x", unknown, 503, "outcome-unknown", unknown],
    ["GET /apps/shop/x", unknown, 503, "store-away", unknown],
    ["GET /jobs/7", new HttpProblem("store-busy", "", { cause }), 503, "store-busy", cause],
    ["GET /jobs/7", new HttpProblem("unknown-job", "", { cause }), 404, "unknown-job", cause],
  ])("%s with %s answers %d %s, and its cause is logged", async (at, error, status, code, logs) => {
    fails.error = error;
    logged.length = 0;
    expect(await ask("plain", at)).toMatchObject({ status, body: { code, requestId: "id-1" } });
    const [method, path] = at.split(" ");
    expect(logged).toEqual([
      { level: "error", message: "request failed", fields: { requestId: "id-1", method, path, error: logs } },
    ]);
  });

  test("answers a defect without its message", async () => {
    fails.error = defect;
    expect(await ask("plain", "GET /jobs/7")).toMatchObject({
      body: { detail: "the request failed; the log has a line with this request id" },
    });
  });
});
