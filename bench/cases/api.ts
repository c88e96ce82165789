import { apiOn } from "../api-app.ts";
import type { Database, Ground } from "../ground.ts";
import { loadManyJobs } from "../many-jobs.ts";
import { type Figure, measured } from "../measure.ts";

const toRetry = 10_000;
const looks = 40;
const creators = { count: 50, each: 40 };

const lists = [
  "",
  "?state=FAILED",
  "?state=FAILED&error=E4&kind=kind-10",
  "?state=QUEUED&lane=mail",
  "?state=PENDING&kind=kind-6&sort=due",
  "?state=RUNNING",
  "?state=CANCELED",
  "?kind=none",
  "?payload.user=77",
  "?key=key-77",
  "?sort=due",
  "?sort=due&state=QUEUED,PENDING&payload.user=none",
  "?sort=due&fingerprint=none",
  "?sort=oldest&dueTo=2000-01-01T00:00:00Z",
  "?sort=oldest&state=SUCCESS",
];

/** The API beside a million finished and 100,000 live jobs. Its own process and Postgres share the machine. */
export async function api(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  await loadManyJobs(database.pool);
  const call = callsOf(database);
  const summary = await timed(looks, () => call("GET", "/summary"));
  const list: number[] = [];
  for (let n = 0; n < looks; n += 1) {
    const path = lists[n % lists.length] ?? "";
    list.push(...(await timed(1, () => call("GET", `/jobs${path}`))));
  }
  const { answered, seconds, changed } = await retryAll(call);
  const { rate, latencies } = await create(call);
  return [
    measured("api: summary p95", "ms", [percentile(summary, 0.95)], { valueMax: 500 }),
    measured("api: filtered list p95", "ms", [percentile(list, 0.95)], { valueMax: 300 }),
    measured("api: retry all matching 10,000, answered", "ms", [answered], { valueMax: 300 }),
    measured("api: retry all matching 10,000, changed", "jobs", [changed], { valueMin: toRetry }),
    measured("api: retry all matching 10,000, done", "s", [seconds], { info: true }),
    measured("api: creates by 50 at once, without HTTP", "jobs/s", [rate], { valueMin: 1_000 }),
    measured("api: create p99", "ms", [percentile(latencies, 0.99)], { valueMax: 150 }),
  ];
}

type Call = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;

function callsOf(database: Database): Call {
  const api = apiOn(database);
  return async (method, path, body) => {
    const headers = { host: "127.0.0.1", "content-type": "application/json" };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await api.fetch(new Request(`http://127.0.0.1${path}`, { method, headers, ...content }));
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
}

async function timed(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let n = 0; n < count; n += 1) {
    const begun = performance.now();
    await work();
    taken.push(performance.now() - begun);
  }
  return taken;
}

async function retryAll(call: Call): Promise<{ answered: number; seconds: number; changed: number }> {
  const begun = performance.now();
  let bulk = await call("POST", "/bulk", { action: "retry", filter: { state: "FAILED" } });
  const answered = performance.now() - begun;
  while (bulk["state"] === "RUNNING") bulk = await call("GET", `/bulk/${String(bulk["id"])}`);
  return { answered, seconds: (performance.now() - begun) / 1_000, changed: Number(bulk["changed"]) };
}

async function create(call: Call): Promise<{ rate: number; latencies: readonly number[] }> {
  const begun = performance.now();
  const each = Array.from({ length: creators.count }, () =>
    timed(creators.each, () => call("POST", "/jobs", { kind: "ping" })),
  );
  const latencies = (await Promise.all(each)).flat();
  return { rate: (latencies.length * 1_000) / (performance.now() - begun), latencies };
}

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
