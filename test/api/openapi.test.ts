import { defineGraph } from "../../src/core/definitions/define-graph.ts";
import { defineApp } from "../../src/core/definitions/define-app.ts";
import { defineJob } from "../../src/core/definitions/define-job.ts";
import { registry } from "../../src/core/definitions/definition.ts";
import { z } from "zod";
import { expect, test } from "vitest";
import type { RunId } from "../../src/core/ports.ts";
import { openApi } from "./harness.ts";

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

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

type Opened = Awaited<ReturnType<typeof openApi>>;

async function startRun({ store }: Opened): Promise<RunId> {
  const plan = registry([app]).jobs.get("steps")?.plan;
  if (plan === undefined) throw new Error("steps is a graph");
  const given = { stage: "dev", key: "2026-11-21", trace: "t", starterId: null, parentId: null };
  const { runId } = await store.startRun(await plan({ day: "2026-11-21" }, given), { lookAheadMs: 0 });
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
    "/summary",
    "/throughput",
    "/workers",
    "/lanes",
  ])
    await get(path);
  const run = await startRun(opened);
  for (const path of ["/runs", `/runs/${run}`, `/runs/${run}/tasks`]) await get(path);
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
  for (const path of ["/bulk", `/bulk/${id}`, "/health", "/preview?expression=0%208%20*%20*%20*"]) await get(path);
  const nightly = { kind: "ping", cron: "30 2 * * *", timezone: "Europe/Berlin" };
  await post("/schedules", { id: "nightly", ...nightly }, 201);
  expect(await opened.call("PUT", "/schedules/nightly", nightly)).toMatchObject({ status: 200 });
  for (const verb of ["pause", "resume"]) await post(`/schedules/nightly/${verb}`);
  await post("/schedules/nightly/trigger", {}, 201);
  const window = { from: "2026-11-20T00:00:00Z", to: "2026-11-21T00:00:00Z", force: true };
  await post("/schedules/nightly/backfill", window);
  await get("/schedules");
  for (const part of ["", "/occurrences", "/next", "/explain?time=2026-11-21T02:30"])
    await get(`/schedules/nightly${part}`);
  expect(await opened.call("DELETE", "/schedules/nightly", {})).toMatchObject({ status: 200 });
  const document = (await opened.call("GET", "/openapi.json")).body as unknown as Document;
  const named = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
  );
  // Not JSON, so it is held to its format elsewhere.
  const others = named.filter((name) => name !== "GET /metrics");
  expect([...opened.documentation.seen].toSorted()).toEqual(others.toSorted());
});

test("the app has no route that the document does not name, but the document itself", async () => {
  const { api, call } = await openApi([app]);
  const document = (await call("GET", "/openapi.json")).body as unknown as Document;
  const named = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
  );
  // Guards go before every route, whatever the method.
  const routes = api.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`);
  expect(routes.toSorted()).toEqual([...named, "GET /openapi.json"].toSorted());
});

test("the document is OpenAPI 3.1 whose every reference leads somewhere", async () => {
  const { call } = await openApi();
  const document = (await call("GET", "/openapi.json")).body as unknown as Document;
  expect(document.openapi).toBe("3.1.0");
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? "");
  expect(references.length).toBeGreaterThan(40);
  for (const reference of new Set(references)) {
    const name = /^#\/components\/schemas\/(\w+)$/.exec(reference)?.[1] ?? reference;
    expect(Object.keys(document.components.schemas)).toContain(name);
  }
  expect(JSON.stringify(document)).not.toContain("$defs");
});
