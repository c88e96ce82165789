import { expect, test } from "vitest";
import { endpointsOf } from "../../src/api/api.ts";
import { type Caller, localCaller, signedCaller } from "../../src/api/caller.ts";
import type { OperationName } from "../../src/api/document/operations.ts";
import { boundsOf } from "../../src/api/scope.ts";
import { defineApp } from "../../src/core/define/define-app.ts";
import { checkScopes } from "../../src/core/define/scope.ts";
import { defineGraph } from "../../src/core/define/define-graph.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { registry } from "../../src/core/define/definition.ts";
import { isGraph, planRun } from "../../src/core/work/run-graph.ts";
import { stageOf } from "../../src/stages.ts";
import { openApi } from "./harness.ts";

type Whose = "own" | "other";

function appOf(whose: Whose) {
  const lane = `${whose}-lane`;
  const job = defineJob({ id: `${whose}-job`, lane, concurrency: 2, run() {} });
  const graph = defineGraph({
    id: `${whose}-graph`,
    version: 1,
    tasks(task) {
      task("first", { lane, run: () => Promise.resolve(null) });
    },
  });
  const routes = { fetch: () => Response.json({ app: whose }) };
  return defineApp({ name: `${whose}-app`, jobs: [job, graph], schedules: [], lanes: { [lane]: {} }, routes });
}
const apps = [appOf("own"), appOf("other")];
const everybody: Caller = { name: "root", role: "operate" };
const bounded: Caller = { name: "ada", role: "operate", scope: { apps: ["own-app"] } };

interface Ids {
  readonly job: string;
  readonly run: string;
  readonly bulk: string;
}

/** Both apps have one of everything; what is the other's has "other" in its name. */
async function planted(caller = bounded) {
  const who = { caller: everybody };
  const opened = await openApi(apps, who);
  const ids = { own: await plant(opened, "own"), other: await plant(opened, "other") };
  who.caller = caller;
  return { ...opened, ids };
}

async function plant(opened: Awaited<ReturnType<typeof openApi>>, whose: Whose): Promise<Ids> {
  const { call, store, operations, pool } = opened;
  const kind = `${whose}-job`;
  const job = (await call("POST", "/jobs", { kind, key: `${whose}-key`, delay: "1h" })).body.id;
  const graph = registry(apps).jobs.get(`${whose}-graph`);
  if (graph === undefined || !isGraph(graph)) throw new Error("it is a graph");
  const given = { stage: "dev", key: `${whose}-run`, trace: "t", starterId: null, parentId: null };
  const { runId } = await store.startRun(await planRun(graph, null, given));
  await call("POST", "/schedules", { id: `${whose}-made`, kind, every: "1h" });
  await operations.registerWorker({ id: `${whose}-worker`, lane: `${whose}-lane`, version: "1" });
  await pool.query(
    `insert into belfry.job (kind, payload, payload_hash, lane, state, event_id, due_at, generation, attempt, failures, max_attempts,
       lease_ms, retention_ms, trace, worker, started_at, dispatched_at, finished_at, created_at, error_code, error_message)
     select $1, 'null', '\\x00', $1 || '-lane', 'FAILED', 0, belfry.now(), 1, 1, 1, 4, 20000, 2592000000, 't', $1 || '-worker',
       belfry.now(), belfry.now(), belfry.now(), belfry.now(), 'BROKEN', $1`,
    [kind],
  );
  const bulk = (await call("POST", "/bulk", { action: "retry", filter: { kind, key: "none" } })).body.id;
  return { job, run: runId, bulk };
}

interface Request {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
}

const window = { from: "2026-11-20T00:00:00Z", to: "2026-11-20T01:00:00Z", dryRun: true };
const job = (_: Whose, { job: id }: Ids): Request => ({ params: { id } });
const run = (_: Whose, { run: id }: Ids): Request => ({ params: { id } });
const bulk = (_: Whose, { bulk: id }: Ids): Request => ({ params: { id } });
const made = (whose: Whose): Request => ({ params: { id: `${whose}-made` } });
const lane = (whose: Whose): Request => ({ params: { name: `${whose}-lane` } });
const all = (): Request => ({});
const rule = { every: "2h" };

/** A request of each operation about what one of the apps has. */
const requests: Readonly<Record<OperationName, (whose: Whose, ids: Ids) => Request>> = {
  createJob: (whose) => ({ body: { kind: `${whose}-job`, delay: "1h" } }),
  countJobs: all,
  listJobs: all,
  getJob: job,
  getAttempt: (_, { job: id }) => ({ params: { id, attempt: "1" } }),
  cancelJob: job,
  retryJob: job,
  runJobNow: job,
  explainJob: job,
  listRuns: all,
  getRunMap: run,
  getRun: run,
  listTasks: run,
  retryRun: run,
  cancelRun: run,
  rerunRun: run,
  listLanes: all,
  pauseLane: lane,
  resumeLane: lane,
  setCap: (whose) => ({ params: { kind: `${whose}-job` }, body: { size: 1 } }),
  getSummary: all,
  getThroughput: all,
  listWorkers: all,
  listDeadLetters: all,
  createBulk: (whose) => ({ body: { action: "cancel", filter: { kind: `${whose}-job` } } }),
  redriveDeadLetters: (whose) => ({ body: { filter: { kind: `${whose}-job` } } }),
  listBulks: all,
  getBulk: bulk,
  stopBulk: bulk,
  listLocks: all,
  listAudits: all,
  listEvents: all,
  listSchedules: all,
  createSchedule: (whose) => ({ body: { id: `${whose}-new`, kind: `${whose}-job`, ...rule } }),
  replaceSchedule: (whose) => ({ ...made(whose), body: { kind: `${whose}-job`, ...rule } }),
  patchSchedule: (whose) => ({ ...made(whose), body: rule }),
  deleteSchedule: made,
  getSchedule: made,
  pauseSchedule: made,
  resumeSchedule: made,
  triggerSchedule: made,
  backfillSchedule: (whose) => ({ ...made(whose), body: window }),
  nextTimes: made,
  explainTime: (whose) => ({ ...made(whose), query: "time=09:00" }),
  listOccurrences: made,
  listScheduleOutcomes: all,
  listUpcoming: all,
  previewExpression: () => ({ query: "expression=5m" }),
  getHealth: all,
  getLive: all,
  getReady: all,
  listKinds: all,
  listKindFigures: all,
  getMetrics: all,
};

type Opened = Awaited<ReturnType<typeof planted>>;

/** The endpoints of the other app come first: what it refuses must not have happened. */
async function answers({ api, options, ids }: Opened, whose: Whose) {
  const found = [];
  for (const { name, method, path, scope } of endpointsOf(options)) {
    const { params = {}, query, body } = requests[name](whose, ids[whose]);
    const at = path.replaceAll(/:(\w+)/g, (_, each: string) => params[each] ?? "");
    const address = `http://127.0.0.1${at}${query === undefined ? "" : `?${query}`}`;
    const content =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const answer = await api.fetch(
      new Request(address, { method, ...content, headers: { ...content.headers, host: "127.0.0.1" } }),
    );
    found.push({ name, scope, status: answer.status, text: await answer.text() });
  }
  return found;
}

test("every endpoint keeps a caller with a scope to its part: what is another's is refused, and lists leave it out", async () => {
  const opened = await planted();
  const others = await answers(opened, "other");
  const faults = others.filter(({ name, scope, status, text }) => {
    const isRefused = status === 403 && (JSON.parse(text) as { code: string }).code === "outside-scope";
    const isNamed = typeof scope === "function" || name === "createBulk" || name === "redriveDeadLetters";
    if (isNamed || scope === "everything") return !isRefused;
    return status !== 200 || (scope === "list" && /other/.test(text));
  });
  expect(faults).toEqual([]);
  const own = (await answers(opened, "own")).filter(({ scope }) => scope !== "everything");
  expect(own.filter(({ status }) => status === 403 || status >= 500)).toEqual([]);
  const shown = own.filter(({ scope, text }) => scope === "list" && /own-/.test(text)).map(({ name }) => name);
  expect(shown).toEqual(
    expect.arrayContaining(["listJobs", "listRuns", "listSchedules", "listDeadLetters", "listKinds"]),
  );
});

test("a role that only reads has its scope too", async () => {
  const opened = await planted({ ...bounded, role: "read" });
  expect(await opened.call("GET", `/jobs/${opened.ids.own.job}`)).toMatchObject({ status: 200 });
  expect(await opened.call("POST", `/jobs/${opened.ids.own.job}/cancel`)).toMatchObject({
    body: { code: "needs-operate" },
  });
  expect(await opened.call("GET", `/jobs/${opened.ids.other.job}`)).toMatchObject({ body: { code: "outside-scope" } });
});

test("filters for another's kind are refused, and those without a kind find and change only what is within", async () => {
  const { call, pool, ids } = await planted();
  for (const path of [
    "/jobs?kind=other-job",
    "/jobs/counts?kind=other-job",
    "/events?kind=other-job",
    "/dead-letters?kind=other-job",
  ])
    expect(await call("GET", path)).toMatchObject({ status: 403, body: { code: "outside-scope" } });
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

test("the routes of an app are within a scope that has all of its kinds", async () => {
  const { call } = await planted();
  expect(await call("GET", "/apps/own-app/x")).toMatchObject({ status: 200 });
  expect(await call("GET", "/apps/other-app/x")).toMatchObject({ status: 403, body: { code: "outside-scope" } });
});

test("a scope by lane has the kinds of that lane, and a graph brings its tasks of other lanes", () => {
  const byLane = boundsOf(registry(apps), { lanes: ["own-lane"] });
  expect([...byLane.kinds].toSorted()).toEqual(["own-graph.first", "own-job"]);
  const byGraphs = boundsOf(registry(apps), { lanes: ["default"] });
  expect(byGraphs.kinds.has("own-graph.first")).toBe(true);
  const lanes = ["own-lane", "other-lane", "none"];
  expect(lanes.map((name) => byLane.hasLane(name))).toEqual([true, false, false]);
  const byApp = boundsOf(registry(apps), { apps: ["own-app"] });
  expect([...lanes, "default"].map((name) => byApp.hasLane(name))).toEqual([true, false, false, false]);
});

test("the stage says who has which scope, in the local system too, and a name that it does not have is a problem", () => {
  const ada = "arn:aws:sts::111122223333:assumed-role/Shop/ada";
  const shop = { callers: ["arn:aws:sts::*:assumed-role/Shop/*"], apps: ["shop"] };
  const both = [shop, { callers: [ada, "local"], lanes: ["mail"] }];
  expect(signedCaller(ada, { scopes: [shop] })).toMatchObject({
    role: "operate",
    scope: { apps: ["shop"], lanes: [] },
  });
  expect(signedCaller(ada, { scopes: both })).toMatchObject({ scope: { apps: ["shop"], lanes: ["mail"] } });
  expect(signedCaller(ada.replace("Shop", "Other"), { scopes: both })).not.toHaveProperty("scope");
  expect(localCaller({ scopes: both })).toMatchObject({ name: "local", scope: { lanes: ["mail"] } });
  expect(localCaller()).toEqual({ name: "local", role: "operate" });
  const stage = stageOf(
    "dev",
    { scopes: [{ callers: ["local"], apps: ["own-app", "onw"], lanes: ["other-lane", "mail"] }] },
    [],
  );
  expect(checkScopes(stage, apps).map(({ field, value }) => [field, value])).toEqual([
    ["scopes.apps", '"onw"'],
    ["scopes.lanes", '"mail"'],
  ]);
});

test("the overview of a caller with a scope counts what is within, and the whole stage for others", async () => {
  const whole = await planted(everybody);
  const [all, part] = [whole, await planted()].map(async ({ call }) => (await call("GET", "/summary")).body);
  expect(await all).toMatchObject({ live: { total: 4 }, deadLetters: { count: 2 }, lanes: { total: 3 } });
  expect(await part).toMatchObject({ live: { total: 2 }, deadLetters: { count: 1 }, lanes: { total: 1 } });
});
