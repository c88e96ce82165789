import { defineApp, defineJob, type RouteContext } from "belfry";
import { Hono } from "hono";
import { expect, onTestFinished, test } from "vitest";
import type { Caller } from "../../src/api/caller.ts";
import { bindClient } from "../../src/machine/client.ts";
import type { JobId } from "../../src/machine/job.ts";
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

/** Two apps whose routes do what the path says, and a job of each kind, in the order pay, mail, sweep. */
async function openShops() {
  const fetch = async (request: Request, inside: RouteContext): Promise<Response> => {
    const [, verb = "", about = ""] = new URL(request.url).pathname.split("/");
    if (verb === "find") return Response.json(await inside.find({ id: about }, "k"));
    if (verb === "get") return Response.json(await inside.get(about as JobId));
    return Response.json(verb === "cancel" ? await inside.cancel(about as JobId) : {});
  };
  const made = (id: string, lane: string) => defineJob({ id, lane, run() {} });
  const apps = [
    defineApp({ name: "shop", jobs: [made("pay", "money"), made("mail", "slow")], routes: { fetch } }),
    defineApp({ name: "ops", jobs: [made("sweep", "slow")], routes: { fetch } }),
  ];
  const who: { caller: Caller } = { caller: { name: "root", role: "operate" } };
  const opened = await openApi(apps, who);
  const ids: JobId[] = [];
  for (const kind of ["pay", "mail", "sweep"])
    ids.push((await opened.call("POST", "/jobs", { kind, key: "k" })).body.id);
  return { ...opened, who, ids, ask: async (path: string) => (await opened.call("GET", `/apps/shop/${path}`)).body };
}

test("a caller with a scope comes to the apps all of whose kinds it has", async () => {
  const { call, who } = await openShops();
  const status = async (scope: NonNullable<Caller["scope"]>, app: string) => {
    who.caller = { ...who.caller, scope };
    return (await call("GET", `/apps/${app}/x`)).status;
  };
  expect(await status({ apps: ["shop"] }, "shop")).toBe(200);
  expect(await status({ apps: ["shop"] }, "ops")).toBe(403);
  expect(await status({ lanes: ["money"] }, "shop")).toBe(403);
  expect(await status({ lanes: ["slow"] }, "ops")).toBe(200);
  expect(await status({}, "shop")).toBe(403);
});

test("routes find, read and cancel no job outside of their caller's scope, and each where there is none", async () => {
  const { ask, who, ids } = await openShops();
  const [pay, mail, sweep] = ids;
  const root = who.caller;
  who.caller = { ...root, scope: { apps: ["shop"] } };
  expect(await ask("find/pay")).toMatchObject({ id: pay, kind: "pay" });
  expect(await ask(`get/${mail}`)).toMatchObject({ job: { kind: "mail" } });
  expect(await ask(`cancel/${pay}`)).toBe(true);
  for (const path of ["find/sweep", `get/${sweep}`, "get/99"]) expect([path, await ask(path)]).toEqual([path, null]);
  for (const path of [`cancel/${sweep}`, "cancel/99"]) expect([path, await ask(path)]).toEqual([path, false]);
  who.caller = root;
  expect(await ask("find/sweep")).toMatchObject({ id: sweep, state: "QUEUED" });
  expect(await ask(`get/${sweep}`)).toMatchObject({ job: { kind: "sweep" } });
  expect(await ask(`cancel/${sweep}`)).toBe(true);
  for (const path of ["find/quiet", "get/99"]) expect([path, await ask(path)]).toEqual([path, null]);
});

test("what Postgres cannot store in an address, or a form could send, is refused before the app sees it; a look has no body", async () => {
  const { call, pool } = await openShops();
  await pool.query("delete from belfry.audit");
  for (const path of ["/apps/shop/x%00", "/apps/shop/x?name=%00"])
    for (const method of ["GET", "POST"])
      expect(await call(method, path)).toMatchObject({ status: 400, body: { code: "not-storable" } });
  expect((await pool.query("select from belfry.audit")).rowCount).toBe(0);
  expect((await call("GET", "/apps/shop/x%2500")).status).toBe(200);
  const status = async (method: string, body: string | undefined, headers: Readonly<Record<string, string>>) =>
    (await call(method, "/apps/shop/x", body, { host: "127.0.0.1", ...headers })).status;
  const [text, json] = [{ "content-type": "text/plain" }, { "content-type": "application/json" }];
  expect(await status("POST", "a", text)).toBe(415);
  expect(await status("POST", "a", { ...json, "content-encoding": "gzip" })).toBe(415);
  expect(await status("POST", "{}", json)).toBe(200);
  expect(await status("POST", undefined, {})).toBe(200);
  expect(await status("GET", undefined, text)).toBe(200);
});
