import type { Pool } from "pg";
import { connect } from "../../src/adapters/postgres/connect.ts";
import { createOperations } from "../../src/adapters/postgres/operations.ts";
import { createApi } from "../../src/api/api.ts";
import { defineApp } from "../../src/core/definitions/define-app.ts";
import { defineJob } from "../../src/core/definitions/define-job.ts";
import { registry } from "../../src/core/definitions/definition.ts";
import { createClient } from "../../src/core/enqueue.ts";
import { createClock, systemRandom } from "../../src/adapters/clock.ts";
import { createMemoryLockStore } from "../../test/support/memory-lock-store.ts";
import { createMemoryQueue } from "../../test/support/memory-queue.ts";
import type { Database, Ground } from "../ground.ts";
import { type Figure, measured } from "../measure.ts";

const rows = { finished: 1_000_000, live: 100_000, toRetry: 10_000 };
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
  await load(database.pool);
  const call = apiOf(database);
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
    measured("api: retry all matching 10,000, changed", "jobs", [changed], { valueMin: rows.toRetry }),
    measured("api: retry all matching 10,000, done", "s", [seconds], { info: true }),
    measured("api: creates by 50 at once, without HTTP", "jobs/s", [rate], { valueMin: 1_000 }),
    measured("api: create p99", "ms", [percentile(latencies, 0.99)], { valueMax: 150 }),
  ];
}

type Call = (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;

function apiOf(database: Database): Call {
  const clock = createClock(1);
  const store = database.store(4);
  const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
  const ports = {
    store,
    queue: createMemoryQueue(clock),
    locks: createMemoryLockStore(),
    clock,
    random: systemRandom,
    log: silent,
    metrics: { add() {}, flush() {} },
    crashPoint: () => Promise.resolve(),
  };
  const app = defineApp({ name: "bench", jobs: [defineJob({ id: "ping", run() {} })], schedules: [] });
  const options = { stage: "dev", lookAheadMs: 300_000 };
  const api = createApi({
    ports,
    operations: createOperations(connect({ url: database.url, applicationName: "belfry bench", connections: 4 })),
    registry: registry([app]),
    client: createClient(ports, options),
    lanes: [],
    locks: ports.locks,
    version: "bench",
    ...options,
  });
  return async (method, path, body) => {
    const headers = { host: "127.0.0.1", "content-type": "application/json" };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await api.fetch(new Request(`http://127.0.0.1${path}`, { method, headers, ...content }));
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
}

async function load(pool: Pool): Promise<void> {
  await pool.query(
    `insert into belfry.job (kind, key, payload, payload_hash, lane, state, due_at, generation, attempt, max_attempts, failures,
       lease_ms, retention_ms, trace, started_at, finished_at, created_at, error_code, error_message)
     select 'kind-' || n % 20, 'key-' || n, jsonb_build_object('user', n % 1000), '\\x00', case when n % 7 = 0 then 'mail' else 'default' end,
       case when n % 100 = 0 then 'FAILED' when n % 1000 = 1 then 'CANCELED' else 'SUCCESS' end::belfry.job_state, belfry.now(), 1, 1, 4,
       0, 20000, 2592000000, 't', belfry.now(), belfry.now(), belfry.now(), case when n % 100 = 0 then 'E' || n % 9 end,
       case when n % 100 = 0 then 'failed for user ' || n end
     from generate_series(1, $1) n`,
    [rows.finished],
  );
  await pool.query(
    `insert into belfry.job (kind, payload, payload_hash, lane, state, due_at, generation, attempt, max_attempts, lease_ms,
       retention_ms, trace, worker, started_at, lease_until, handed_at, created_at)
     select 'kind-' || n % 20, '{}', '\\x00', case when n % 7 = 0 then 'mail' else 'default' end, s.state::belfry.job_state,
       belfry.now() + (n - 50000) * interval '1 second', 1, 1, 4, 20000, 2592000000, 't', 'w', belfry.now(),
       case s.state when 'RUNNING' then belfry.now() + interval '1 hour' end, belfry.now(), belfry.now()
     from generate_series(1, $1) n
     cross join lateral (select case when n % 10 < 3 then 'QUEUED' when n % 1000 = 4 then 'RUNNING' else 'PENDING' end as state) s`,
    [rows.live],
  );
  await pool.query("analyze belfry.job");
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
