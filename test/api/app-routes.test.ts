import { Hono } from "hono";
import { expect, test } from "vitest";
import { mountApps } from "../../src/api/apps.ts";
import type { Caller } from "../../src/api/caller.ts";
import { answerProblem } from "../../src/api/json-answer.ts";
import { HttpProblem } from "../../src/api/problem.ts";
import type { ApiOptions } from "../../src/api/options.ts";
import { sensitiveKinds } from "../../src/api/sensitive.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import type { RouteContext } from "../../src/define/routes.ts";
import { noAftermath } from "../../src/machine/outbox.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { AuditedChange } from "../../src/api/audit-trail.ts";
import { recordingLog } from "../../src/testing/recording.ts";
import { insightStub } from "../support/insight-stub.ts";

const json = { "content-type": "application/json" };

/** An app whose routes do what the path says, beside another app and a job of each. */
function world(caller: Caller) {
  const made = (id: string, lane: string) => defineJob({ id, lane, run() {} });
  const fetch = async (request: Request, inside: RouteContext): Promise<Response> => {
    const [, verb = "", about = ""] = new URL(request.url).pathname.split("/");
    const id = about as JobId;
    if (verb === "find") return Response.json(await inside.find({ id: about }, "k"));
    if (verb === "get") return Response.json(await inside.get(id));
    if (verb === "cancel") return Response.json(await inside.cancel(id));
    return Response.json({});
  };
  const apps = [
    defineApp({ name: "shop", jobs: [made("pay", "money"), made("mail", "slow")], routes: { fetch } }),
    defineApp({ name: "ops", jobs: [made("sweep", "slow")], routes: { fetch } }),
    defineApp({ name: "bare", jobs: [made("quiet", "slow")] }),
  ];
  const kinds = new Map([
    ["1", "pay"],
    ["2", "mail"],
    ["3", "sweep"],
  ]);
  const canceled: unknown[] = [];
  const store = {
    job: (of: string | { kind: string }) => {
      const [id, kind] = [...kinds].find((row) => (typeof of === "string" ? row[0] === of : row[1] === of.kind)) ?? [];
      return Promise.resolve(kind === undefined ? null : { id, kind, state: "QUEUED" });
    },
    cancel: (ids: string[], by: { caller: string }) => {
      canceled.push([ids, by.caller]);
      return Promise.resolve({
        rows: ids.filter((id) => kinds.has(id)).map((jobId) => ({ jobId })),
        aftermath: noAftermath,
      });
    },
    peek: () => Promise.resolve([]),
  };
  const insight = insightStub({});
  const all = registry(apps);
  const notes: AuditedChange[] = [];
  const options = {
    ports: { store, log: recordingLog([]) },
    insight,
    registry: all,
    stage: "prod",
  } as unknown as ApiOptions;
  const audit = { note: (note: AuditedChange) => Promise.resolve(void notes.push(note)) };
  const api = new Hono();
  api.onError((error, c) => (error instanceof HttpProblem ? answerProblem(c, error) : c.text(String(error), 500)));
  mountApps(api, options, {
    identify: () => caller,
    audit,
    marks: () => Promise.resolve(sensitiveKinds(all.jobs.values())),
    registry: all,
  });
  const call = async (path: string, init: RequestInit = {}) => {
    const answer = await api.request(path, init);
    const isJson = answer.headers.get("content-type")?.includes("json") === true && init.method !== "HEAD";
    return { status: answer.status, body: isJson ? await answer.json() : await answer.text() };
  };
  return { call, notes, canceled };
}

const root: Caller = { name: "root", role: "operate" };
const ofShop: Caller = { ...root, name: "ada", scope: { apps: ["shop"] } };

test("a caller with a scope comes to the apps all of whose kinds it has", async () => {
  const status = async (scope: Caller["scope"], path: string) =>
    (await world({ ...root, ...(scope === undefined ? {} : { scope }) }).call(path)).status;
  expect(await status({ apps: ["shop"] }, "/apps/shop/x")).toBe(200);
  expect(await status({ apps: ["shop"] }, "/apps/ops/x")).toBe(403);
  expect(await status({ lanes: ["money"] }, "/apps/shop/x")).toBe(403);
  expect(await status({ lanes: ["slow"] }, "/apps/ops/x")).toBe(200);
  expect(await status({}, "/apps/shop/x")).toBe(403);
  expect(await status(undefined, "/apps/ops/x")).toBe(200);
});

test("routes find, read and cancel no job outside of their caller's scope", async () => {
  const own = world(ofShop);
  expect((await own.call("/apps/shop/find/pay")).body).toMatchObject({ id: "1", kind: "pay" });
  expect((await own.call("/apps/shop/find/sweep")).body).toBeNull();
  expect((await own.call("/apps/shop/get/2")).body).toMatchObject({ job: { kind: "mail" } });
  expect((await own.call("/apps/shop/get/3")).body).toBeNull();
  expect((await own.call("/apps/shop/cancel/1")).body).toBe(true);
  expect((await own.call("/apps/shop/cancel/3")).body).toBe(false);
  expect((await own.call("/apps/shop/cancel/4")).body).toBe(false);
  expect(own.canceled).toEqual([
    [["1"], "ada"],
    [["4"], "ada"],
  ]);
});

test("without a scope routes reach each job, and what is not there is null", async () => {
  const { call, canceled } = world(root);
  expect((await call("/apps/shop/get/3")).body).toMatchObject({ job: { kind: "sweep" } });
  expect((await call("/apps/shop/find/sweep")).body).toMatchObject({ id: "3", kind: "sweep" });
  expect((await call("/apps/shop/cancel/3")).body).toBe(true);
  expect(canceled).toEqual([[["3"], "root"]]);
  expect((await call("/apps/shop/get/4")).body).toBeNull();
  expect((await call("/apps/shop/find/quiet")).body).toBeNull();
});

test("an address that Postgres cannot store is refused before the app sees it, for looks and changes", async () => {
  const { call, notes } = world(root);
  for (const path of ["/apps/shop/x%00", "/apps/shop/x?name=%00"])
    for (const method of ["GET", "POST"])
      expect(await call(path, { method })).toMatchObject({ status: 400, body: { code: "not-storable" } });
  expect(notes).toEqual([]);
  expect((await call("/apps/shop/x%2500")).status).toBe(200);
});

test("a body that a form could send is refused, for a look it is not asked about", async () => {
  const { call } = world(root);
  const status = async (init: RequestInit) => (await call("/apps/shop/x", init)).status;
  expect(await status({ method: "POST", headers: { "content-type": "text/plain" }, body: "a" })).toBe(415);
  expect(await status({ method: "POST", headers: { ...json, "content-encoding": "gzip" }, body: "a" })).toBe(415);
  expect(await status({ method: "POST", headers: json, body: "{}" })).toBe(200);
  expect(await status({ method: "POST" })).toBe(200);
  expect(await status({ headers: { "content-type": "text/plain" } })).toBe(200);
});
