import { defineApp, defineJob, type RouteContext } from "belfry";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import { bindClient } from "../../src/machine/client.ts";
import { openApi } from "./harness.ts";

const brew = defineJob({ id: "brew", run() {} });
const pots = new Hono<{ Bindings: RouteContext }>();
pots.post("/pots/:name", async (c) => c.json(await brew.enqueue(undefined, { key: c.req.param("name") }), 201));
pots.get("/pots/:name", async (c) => c.json(await c.env.find(brew, c.req.param("name"))));
pots.delete("/pots/:name", async (c) => {
  const job = await c.env.find(brew, c.req.param("name"));
  return c.json({ canceled: job !== null && (await c.env.cancel(job.id)) });
});
pots.get("/stage", (c) => c.json({ stage: c.env.stage }));
const kitchen = defineApp({ name: "kitchen", jobs: [brew], routes: pots });
const plain = defineApp({ name: "plain", routes: { fetch: (request) => new Response(new URL(request.url).pathname) } });
const broken = defineApp({
  name: "broken",
  routes: { fetch: () => Promise.reject(new Error("the secret of the pot")) },
});

async function openKitchen() {
  const opened = await openApi([kitchen, plain, broken]);
  bindClient(opened.client);
  onTestFinished(() => bindClient(null));
  return opened;
}

test("an app's own routes answer below /apps and its name, and see the path behind that", async () => {
  const { api, call } = await openKitchen();
  expect((await call("GET", "/apps/kitchen/stage")).body).toEqual({ stage: "dev" });
  const headers = { host: "127.0.0.1:4400" };
  const answer = await api.fetch(new Request("http://127.0.0.1/apps/plain/a/b?c=1", { headers }));
  expect(await answer.text()).toBe("/a/b");
});

test("routes enqueue, find and cancel jobs", async () => {
  const { call } = await openKitchen();
  expect((await call("POST", "/apps/kitchen/pots/blue", {})).body).toMatchObject({ created: true });
  expect((await call("POST", "/apps/kitchen/pots/blue", {})).body).toMatchObject({ created: false });
  expect((await call("GET", "/apps/kitchen/pots/blue")).body).toMatchObject({ kind: "brew", state: "QUEUED" });
  expect((await call("DELETE", "/apps/kitchen/pots/blue", {})).body).toEqual({ canceled: true });
  const { jobs } = (await call("GET", "/jobs?key=blue")).body as unknown as { jobs: { id: string }[] };
  const { events } = (await call("GET", `/jobs/${jobs[0]?.id}`)).body;
  expect(events.at(-1)).toMatchObject({ to: "CANCELED", caller: "ada" });
  expect((await call("DELETE", "/apps/kitchen/pots/blue", {})).body).toEqual({ canceled: false });
});

test("what routes throw is one log line and a problem that shows nothing of the inside", async () => {
  const { call, logged } = await openKitchen();
  const { status, body } = await call("GET", "/apps/broken/x");
  expect(status).toBe(500);
  expect(JSON.stringify(body)).not.toContain("secret");
  expect(logged).toHaveLength(1);
});

test("the API's guards hold for routes too", async () => {
  const { call } = await openKitchen();
  const foreign = { host: "evil.example", "content-type": "application/json" };
  expect((await call("GET", "/apps/kitchen/stage", undefined, foreign)).status).toBe(403);
  expect((await call("POST", "/apps/kitchen/pots/red", "{}", { host: "localhost" })).status).toBe(415);
  expect((await call("GET", "/apps/unknown/x")).status).toBe(404);
});
