import { Hono } from "hono";
import { endpointsOf } from "../../src/api/api.ts";
import type { Caller } from "../../src/api/caller.ts";
import type { OperationName } from "../../src/api/api.ts";
import { type Endpoint, mount } from "../../src/api/endpoint.ts";
import { answerProblem } from "../../src/api/json-answer.ts";
import { HttpProblem } from "../../src/api/problem.ts";
import { sensitiveKinds } from "../../src/api/sensitive.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineGraph } from "../../src/define/define-graph.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { graphPlan } from "../support/graph-plan.ts";
import { openApi } from "./harness.ts";
import { writeWorker } from "../../src/insight/workers.ts";
import { plantJobs } from "../support/plant-jobs.ts";

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
export const apps = [appOf("own"), appOf("other")];
export const everybody: Caller = { name: "root", role: "operate" };
export const bounded: Caller = { name: "ada", role: "operate", scope: { apps: ["own-app"] } };

interface Ids {
  readonly job: string;
  readonly run: string;
  readonly bulk: string;
}

/** Both apps have one of everything; what is the other's has "other" in its name. */
export async function planted(caller = bounded) {
  const who = { caller: everybody, endsStreams: true };
  const opened = await openApi(apps, who);
  const ids = { own: await plant(opened, "own"), other: await plant(opened, "other") };
  who.caller = caller;
  return { ...opened, ids };
}

async function plant(opened: Awaited<ReturnType<typeof openApi>>, whose: Whose): Promise<Ids> {
  const { call, store, database, pool } = opened;
  const kind = `${whose}-job`;
  const job = (await call("POST", "/jobs", { kind, key: `${whose}-key`, delay: "1h" })).body.id;
  const { runId } = await store.startRun(await graphPlan(apps, `${whose}-graph`, { key: `${whose}-run` }));
  const objective = { onTime: "1m", share: 0.9 };
  await call("POST", "/schedules", { id: `${whose}-made`, kind, every: "1h", objective });
  await database.insight.run(writeWorker, { id: `${whose}-worker`, lane: `${whose}-lane`, version: "1" });
  const name = `'${kind}'`;
  const failed = { kind: name, lane: `${name} || '-lane'`, worker: `${name} || '-worker'`, error_message: name };
  await plantJobs(pool, "FAILED", 1, failed);
  for (const rollUp of [
    "belfry.minute (at, kind, lane, created) select date_trunc('minute', belfry.now()) - interval '1 minute', $1, $2, 1",
    "belfry.hour (at, kind, lane, bucket, ran) select date_trunc('hour', belfry.now()), $1, $2, 1, 1",
    "belfry.usage select belfry.now()::date, $1, $2, '', $1 || '-key', 1, 1, 1, 1",
  ])
    await pool.query(`insert into ${rollUp}`, [kind, `${whose}-lane`]);
  const bulk = (await call("POST", "/bulk", { action: "retry", filter: { kind, key: "none" } })).body.id;
  return { job, run: runId, bulk };
}

interface Wanted {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: object;
}

const window = { from: "2026-11-20T00:00:00Z", to: "2026-11-20T01:00:00Z", dryRun: true };
const job = (_: Whose, { job: id }: Ids): Wanted => ({ params: { id } });
const run = (_: Whose, { run: id }: Ids): Wanted => ({ params: { id } });
const bulk = (_: Whose, { bulk: id }: Ids): Wanted => ({ params: { id } });
const made = (whose: Whose): Wanted => ({ params: { id: `${whose}-made` } });
const lane = (whose: Whose): Wanted => ({ params: { name: `${whose}-lane` } });
const all = (): Wanted => ({});
const rule = { every: "2h" };

/** A request of each operation about what one of the apps has. */
export const requests: Readonly<Record<OperationName, (whose: Whose, ids: Ids) => Wanted>> = {
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
  getRunMatrix: run,
  getRun: run,
  listTasks: run,
  retryRun: run,
  cancelRun: run,
  rerunRun: run,
  signalRun: (_, { run: id }) => ({ params: { id, name: "approved" }, body: {} }),
  listLanes: all,
  pauseLane: lane,
  resumeLane: lane,
  setCap: (whose) => ({ params: { kind: `${whose}-job` }, body: { size: 1 } }),
  getSummary: all,
  getThroughput: all,
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
  countOccurrences: made,
  listScheduleOutcomes: all,
  listUpcoming: all,
  simulateSchedules: all,
  listObjectives: all,
  getCosts: all,
  getNight: () => ({ query: "by=kind" }),
  previewExpression: () => ({ query: "expression=5m" }),
  getHealth: all,
  getLive: all,
  getReady: all,
  listKinds: all,
  listKindFigures: all,
  getMetrics: all,
};

type Opened = Awaited<ReturnType<typeof planted>>;
type Ask = (request: Request) => Response | Promise<Response>;

/** Another's job or run is answered as one that does not exist. */
const refusals = new Set(["outside-scope", "unknown-job", "unknown-run"]);

/** What each operation answers to a request about the own or the other app. */
export async function answers(
  { options, ids }: Opened,
  whose: Whose,
  ask: Ask,
  only: (each: Endpoint) => boolean = () => true,
) {
  const found = [];
  for (const { name, method, path } of endpointsOf(options).filter(only)) {
    const { params = {}, query, body } = requests[name](whose, ids[whose]);
    const at = path.replaceAll(/:(\w+)/g, (_, each: string) => params[each] ?? "");
    const address = `http://127.0.0.1${at}${query === undefined ? "" : `?${query}`}`;
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { host: "127.0.0.1", ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const answer = await ask(new Request(address, { method, ...content, headers }));
    const text = await answer.text();
    const isRefused = [403, 404].includes(answer.status) && refusals.has((JSON.parse(text) as { code: string }).code);
    found.push({ name, status: answer.status, text, isRefused });
  }
  return found;
}

/** These show nothing of any job. */
export const neutral: readonly string[] = ["getLive", "getReady", "previewExpression"];
const isNamed = (name: string, { ids }: Opened): boolean => {
  const request = requests[name as OperationName];
  return JSON.stringify(request("own", ids.own)) !== JSON.stringify(request("other", ids.other));
};

/** The operations that act on what is another's, show it, or count it: they answer as they do to everybody. */
export async function leaks(opened: Opened, asBounded: Ask, only?: (each: Endpoint) => boolean) {
  const reads = ({ name, method }: Endpoint) => method === "GET" && !isNamed(name, opened) && !neutral.includes(name);
  const whole = new Map(
    (await answers(opened, "other", (request) => apiOf(opened, everybody).fetch(request), reads)).map(
      ({ name, text }) => [name, text],
    ),
  );
  return (await answers(opened, "other", asBounded, only))
    .filter(({ isRefused }) => !isRefused)
    .filter(({ name, text }) => isNamed(name, opened) || /other(?!s")/.test(text) || whole.get(name) === text)
    .map(({ name }) => name);
}

/** An API of the same stage for another caller; `change` plants a fault in its endpoints. */
export function apiOf(
  { options }: Opened,
  caller: Caller,
  change: (each: Endpoint) => Endpoint = (each) => each,
): Hono {
  const api = new Hono();
  const audit = { note: () => Promise.resolve() };
  const marks = () => Promise.resolve(sensitiveKinds(options.registry.jobs.values()));
  mount(api, endpointsOf(options).map(change), {
    identify: () => caller,
    audit,
    marks,
    registry: options.registry,
  });
  api.onError((error, c) => {
    if (error instanceof HttpProblem) return answerProblem(c, error);
    throw error;
  });
  return api;
}
