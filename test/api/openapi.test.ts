import type { RunId } from "../../src/machine/job.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import { z } from "zod";
import { expect, test } from "vitest";
import { isGraph, planRun } from "../../src/run/run-graph.ts";
import { type OpenApiDocument, type Operation, responseIn, strictAjv } from "./documented.ts";
import { document as described } from "./document.ts";
import { openApi } from "./harness.ts";
import { openApiSchema } from "./openapi-schema.ts";

const steps = defineGraph({
  id: "steps",
  version: 1,
  input: z.object({ day: z.string() }),
  tasks(task) {
    const first = task("first", { run: () => Promise.resolve({ rows: 1 }) });
    task("second", { after: { first }, run: () => Promise.resolve(null) });
  },
});
const ping = defineJob({ id: "ping", run() {} });
const capped = defineJob({ id: "capped", concurrency: 2, run() {} });
const app = defineApp({ name: "tests", jobs: [ping, steps, capped], schedules: [] });

const host = "127.0.0.1:4400";

type Opened = Awaited<ReturnType<typeof openApi>>;

async function startRun({ store }: Opened): Promise<RunId> {
  const graph = registry([app]).jobs.get("steps");
  if (graph === undefined || !isGraph(graph)) throw new Error("steps is a graph");
  const given = { stage: "dev", key: "2026-11-21", trace: "t", starterId: null, parentId: null };
  const { runId } = await store.startRun(await planRun(graph, { day: "2026-11-21" }, given));
  return runId;
}

test("every endpoint answers as the document says", async () => {
  const opened = await openApi([app]);
  const get = async (path: string) => expect(await opened.call("GET", path)).toMatchObject({ status: 200 });
  const post = async (path: string, body: object = {}, status = 200) => {
    const answer = await opened.call("POST", path, body);
    expect({ path, ...answer }).toMatchObject({ path, status });
    return answer.body;
  };
  const job = await post("/jobs", { kind: "ping", key: "a", delay: "1h" }, 201);
  await post("/jobs", { kind: "ping", key: "a", delay: "1h" });
  for (const verb of ["run-now", "cancel", "retry"]) await post(`/jobs/${job.id}/${verb}`);
  for (const path of [
    "/jobs?sort=due",
    "/jobs/counts?kind=ping",
    `/jobs/${job.id}`,
    `/jobs/${job.id}/explain`,
    "/summary?minutes=60",
    "/throughput",
    "/lanes",
  ])
    await get(path);
  const started = await post("/jobs", { kind: "ping" }, 201);
  await opened.store.claim([{ jobId: started.id, generation: 1, trace: "" }], { worker: "w", alone: false });
  await get(`/jobs/${started.id}/attempts/1`);
  const run = await startRun(opened);
  for (const path of ["/runs", `/runs/${run}`, `/runs/${run}/tasks`, `/runs/${run}/map`]) await get(path);
  await post(`/runs/${run}/rerun`, {}, 201);
  await post(`/runs/${run}/cancel`);
  await post(`/runs/${run}/retry`);
  for (const path of ["/dead-letters", "/locks", "/audits", "/events"]) await get(path);
  await post("/lanes/default/pause");
  await post("/lanes/default/resume");
  expect(await opened.call("PUT", "/caps/capped", { size: 3 })).toMatchObject({ status: 200 });
  await post("/bulk", { action: "retry", filter: { kind: "ping" }, dryRun: true });
  const { id } = await post("/bulk", { action: "cancel", filter: { kind: "none" } }, 202);
  await post("/dead-letters/redrive", { filter: { kind: "none" } }, 202);
  await post(`/bulk/${id}/stop`);
  for (const path of [
    "/bulk",
    `/bulk/${id}`,
    "/health",
    "/livez",
    "/readyz",
    "/kinds",
    "/preview?expression=0%208%20*%20*%20*",
  ])
    await get(path);
  const nightly = { kind: "ping", cron: "30 2 * * *", timezone: "Europe/Berlin" };
  await post("/schedules", { id: "nightly", ...nightly }, 201);
  expect(await opened.call("PUT", "/schedules/nightly", nightly)).toMatchObject({ status: 200 });
  expect(await opened.call("PATCH", "/schedules/nightly", { enabled: false })).toMatchObject({ status: 200 });
  expect(await opened.call("PATCH", "/schedules/nightly", { enabled: true })).toMatchObject({ status: 200 });
  for (const verb of ["pause", "resume"]) await post(`/schedules/nightly/${verb}`);
  await post("/schedules/nightly/trigger", {}, 201);
  const window = { from: "2026-11-20T00:00:00Z", to: "2026-11-21T00:00:00Z", force: true };
  await post("/schedules/nightly/backfill", { ...window, dryRun: true });
  await post("/schedules/nightly/backfill", window, 202);
  await get("/schedules");
  await get("/upcoming?hours=24");
  await get("/night?by=kind");
  await get("/kind-figures?hours=24");
  await get("/schedule-outcomes?state=failing&sort=next");
  for (const part of ["", "/occurrences", "/next", "/explain?time=2026-11-21T02:30"])
    await get(`/schedules/nightly${part}`);
  expect(await opened.call("DELETE", "/schedules/nightly", {})).toMatchObject({ status: 200 });
  for (const [path, accept] of [
    ["/metrics", "*/*"],
    ["/events", "text/event-stream"],
  ] as const) {
    const answer = await opened.api.fetch(new Request(`http://127.0.0.1${path}`, { headers: { host, accept } }));
    expect(answer.headers.get("content-type")).toContain("text/");
    opened.documentation.check("GET", path, answer, "");
    await answer.body?.cancel();
  }
  const document = (await opened.call("GET", "/openapi.json")).body as unknown as OpenApiDocument;
  expect([...opened.documentation.seen].toSorted()).toEqual(namesOf(document).toSorted());
});

test("refusals of every kind are the documented problem, and a foreign member or type is found", async () => {
  const { api, call, documentation } = await openApi([app]);
  expect(await call("GET", "/jobs?no=1")).toMatchObject({ status: 400 });
  expect(await call("GET", "/jobs/999")).toMatchObject({ status: 404 });
  expect(await call("GET", "/nowhere")).toMatchObject({ status: 404 });
  expect(await call("POST", "/jobs", "{")).toMatchObject({ status: 400 });
  expect(await call("POST", "/jobs", { kind: "none" })).toMatchObject({ status: 422 });
  const plain = { host, "content-type": "text/plain" };
  expect(await call("POST", "/jobs", { kind: "ping" }, plain)).toMatchObject({ status: 415 });
  expect(await call("GET", "/jobs", undefined, { host: "elsewhere" })).toMatchObject({ status: 403 });
  expect(await (await openApi([app], { caller: null })).call("GET", "/jobs")).toMatchObject({ status: 401 });
  const answer = await api.fetch(new Request("http://127.0.0.1/jobs", { headers: { host } }));
  const body = (await answer.json()) as object;
  const check = (status: number, type: string, value: object) => () =>
    documentation.check("GET", "/jobs", { status, headers: new Headers({ "content-type": type }) }, value);
  expect(check(200, "application/json", body)).not.toThrow();
  expect(check(200, "application/json", { ...body, more: 1 })).toThrow("additional properties");
  expect(check(200, "application/json", { ...body, jobs: {} })).toThrow("must be array");
  expect(check(200, "text/html", body)).toThrow("is not documented");
  expect(check(202, "application/json", body)).toThrow("is not documented");
  expect(check(500, "application/problem+json", body)).toThrow("must have required property");
});

test("the app has no route that the document does not name, but the document itself", async () => {
  const { api, call } = await openApi([app]);
  const document = (await call("GET", "/openapi.json")).body as unknown as OpenApiDocument;
  const named = namesOf(document).map((name) => name.replaceAll(/\{(\w+)\}/g, ":$1"));
  // Guards go before every route, whatever the method.
  const routes = api.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);
  expect(routes.toSorted()).toEqual([...named, "GET /openapi.json"].toSorted());
});

test("the document is OpenAPI 3.1, its schemas are JSON Schema, and every reference leads somewhere", async () => {
  const { call } = await openApi();
  const document = (await call("GET", "/openapi.json")).body as unknown as OpenApiDocument;
  const ajv = strictAjv();
  expect(ajv.validate(openApiSchema, document) || ajv.errorsText()).toBe(true);
  const ids = Object.values(document.paths).flatMap((each) => Object.values(each).map((one) => one.operationId));
  expect(new Set(ids).size).toBe(ids.length);
  const { components, paths } = document;
  const schemas = Object.values(paths).flatMap((each) =>
    Object.values(each).flatMap((one) => schemasOf(document, one)),
  );
  expect(schemas.length).toBeGreaterThan(100);
  // Compiling holds a schema to the meta-schema of 2020-12 and follows its references.
  for (const schema of schemas) ajv.compile({ ...schema, components });
  for (const [name, schema] of Object.entries(components.schemas))
    expect({ name, ...schema }).not.toHaveProperty("$ref");
  expect(JSON.stringify(document)).not.toContain("$defs");
});

test("no member of an answer is renamed, dropped or of another type than members.txt says", async () => {
  const text = Object.entries((described as unknown as OpenApiDocument).components.schemas)
    .map(([name, schema]) => `${name}: ${membersOf(schema)}\n`)
    .join("");
  await expect(text).toMatchFileSnapshot("./members.txt");
});

interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** `id string, key string|null, tags? string[]`. */
const membersOf = ({ properties = {}, required = [] }: JsonSchema): string =>
  Object.entries(properties)
    .map(([name, schema]) => `${name}${required.includes(name) ? "" : "?"} ${typeOf(schema)}`)
    .toSorted()
    .join(", ");

function typeOf(schema: JsonSchema): string {
  const { $ref, type, anyOf, items, properties } = schema;
  if ($ref !== undefined) return $ref.replace("#/components/schemas/", "");
  if (anyOf !== undefined) return anyOf.map(typeOf).join("|");
  if (items !== undefined) return `${typeOf(items)}[]`;
  if (properties !== undefined) return `{ ${membersOf(schema)} }`;
  return [type ?? "any"].flat().join("|");
}

const schemasOf = (document: OpenApiDocument, { parameters, requestBody, responses }: Operation): readonly object[] => [
  ...parameters.map(({ schema }) => schema),
  ...[
    ...(requestBody === undefined ? [] : [requestBody]),
    ...Object.values(responses).map((each) => responseIn(document, each)),
  ]
    .flatMap(({ content }) => Object.values(content))
    .map(({ schema }) => schema),
];

const namesOf = ({ paths }: OpenApiDocument): readonly string[] =>
  Object.entries(paths).flatMap(([path, each]) => Object.keys(each).map((method) => `${method.toUpperCase()} ${path}`));
