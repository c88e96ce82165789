import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { definitionOf, defineJob } from "../../src/core/define/define-job.ts";
import { follow, type Follower } from "../follower.ts";
import type { Database, Ground } from "../ground.ts";
import { type Figure, measured, quantile } from "../measure.ts";
import { recordsOf, workerOf } from "../ports.ts";
import type { CaseOptions } from "../case-options.ts";

const reconnects = 100;
const clients = 200;
const sameKey = 200;
const creators = 50;
const eventsASecond = 50;
/** Time for the last events to arrive, well beyond the bar. */
const restMs = 6_000;
const warmUpMs = 6_000;

interface Api {
  readonly url: string;
  readonly pid: number;
}

/** The stream and creates over HTTP; the API is a process of its own, the clients are this one. */
export async function sse(ground: Ground, { minutes }: CaseOptions): Promise<readonly Figure[]> {
  const database = await ground.database();
  const child = fork(new URL("../api-process.ts", import.meta.url), [database.url]);
  try {
    const [api] = (await once(child, "message")) as [Api];
    return [
      ...(await reconnecting(database, api)),
      ...(await manyClients(database, api, minutes * 12)),
      await oneKey(api),
      ...(await creating(database, api, Math.max(3, minutes * 2))),
    ];
  } finally {
    child.disconnect();
    await once(child, "exit");
  }
}

async function reconnecting(database: Database, { url }: Api): Promise<readonly Figure[]> {
  const idle = await database.pool.connect();
  await idle.query("begin; select pg_current_xact_id()");
  const follower = await follow(url);
  const load = startLoad(database, { lateMs: 1_500 });
  for (let n = 0; n < reconnects; n += 1) {
    await wait(50 + ((n * 37) % 150));
    follower.cut();
  }
  const written = await load.stop();
  await wait(restMs);
  follower.stop();
  await idle.query("rollback");
  idle.release();
  const late = delays(written, follower);
  return [
    measured("sse: reconnects", "", [follower.connections - 1], { valueMin: reconnects }),
    measured("sse: gaps over the reconnects", "events", [written.size - late.length], { valueMax: 0 }),
    measured("sse: longest delay beside an open transaction", "ms", [largest(late)], { valueMax: 2_000 }),
  ];
}

async function manyClients(database: Database, { url, pid }: Api, seconds: number): Promise<readonly Figure[]> {
  const before = rssMb(pid);
  const followers = await Promise.all(Array.from({ length: clients }, () => follow(url)));
  const load = startLoad(database, { lateMs: 0 });
  let most = before;
  for (const end = performance.now() + seconds * 1_000; performance.now() < end; most = Math.max(most, rssMb(pid))) {
    await wait(500);
  }
  const written = await load.stop();
  await wait(restMs);
  for (const follower of followers) follower.stop();
  const late = followers.map((follower) => delays(written, follower));
  const missed = late.reduce((sum, each) => sum + written.size - each.length, 0);
  return [
    measured(`sse: missed by ${clients} clients`, "events", [missed], { valueMax: 0 }),
    measured(`sse: longest delay at ${clients} clients`, "ms", [largest(late.flat())], { valueMax: 2_000 }),
    measured("sse: memory grows by", "MB", [most - before], { valueMax: 100 }),
  ];
}

/** Of more values than a call takes arguments. */
const largest = (values: readonly number[]): number => values.reduce((most, value) => Math.max(most, value), 0);

interface Load {
  /** @returns when each event was committed, by id. */
  stop(): Promise<ReadonlyMap<string, number>>;
}

/** Writes events at a steady rate; every fifth is committed `lateMs` after it was written. */
function startLoad({ pool }: Database, { lateMs }: { lateMs: number }): Load {
  const committed = new Map<string, number>();
  const late: Promise<void>[] = [];
  const over = new AbortController();
  const text = `insert into belfry.event (id, at, to_state, job_ids, attempts, generations)
    values (belfry.next_event(), belfry.now(), 'QUEUED', '{1}', '{0}', '{1}') returning xid || '.' || id || '.1' as id`;
  const lateOne = async (): Promise<void> => {
    const client = await pool.connect();
    await client.query("begin");
    const { rows } = await client.query<{ id: string }>(text);
    await wait(lateMs);
    await client.query("commit");
    committed.set(rows[0]?.id ?? "", performance.now());
    client.release();
  };
  const loop = (async () => {
    let open = 0;
    for (let n = 0; !over.signal.aborted; n += 1) {
      // Few enough that the others still find a connection.
      if (lateMs > 0 && n % 5 === 0 && open < 4) {
        open += 1;
        late.push(lateOne().finally(() => (open -= 1)));
      }
      const { rows } = await pool.query<{ id: string }>(text);
      committed.set(rows[0]?.id ?? "", performance.now());
      await wait(1_000 / eventsASecond);
    }
  })();
  return {
    async stop() {
      over.abort();
      await loop;
      await Promise.all(late);
      return committed;
    },
  };
}

/** From the commit to the arrival, of those that arrived. */
const delays = (committed: ReadonlyMap<string, number>, { seen }: Follower): readonly number[] =>
  [...committed].flatMap(([id, at]) => {
    const came = seen.get(id);
    return came === undefined ? [] : [Math.max(0, came - at)];
  });

async function oneKey({ url }: Api): Promise<Figure> {
  const ids = await Promise.all(Array.from({ length: sameKey }, () => create(url, { kind: "ping", key: "the same" })));
  return measured(`jobs from one key of ${sameKey} clients`, "jobs", [new Set(ids).size], { valueMax: 1 });
}

async function creating(database: Database, { url }: Api, seconds: number): Promise<readonly Figure[]> {
  const lanes = startLanes(database);
  const latencies: number[] = [];
  // The first seconds of a process and of its connections say nothing of the rate it keeps.
  const begun = performance.now() + warmUpMs;
  const end = begun + seconds * 1_000;
  const creator = async (): Promise<void> => {
    while (performance.now() < end) {
      const at = performance.now();
      await create(url, { kind: "ping" });
      if (at >= begun) latencies.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: creators }, creator));
  const rate = (latencies.length * 1_000) / (performance.now() - begun);
  const done = await lanes.stop();
  return [
    measured(`creates over HTTP by ${creators} at once`, "jobs/s", [rate], { valueMin: 1_000 }),
    measured("create over HTTP p99", "ms", [quantile(latencies, 0.99)], { valueMax: 150 }),
    measured("done by the lanes at the same time", "jobs", [done], { valueMin: 1 }),
  ];
}

/** Workers that take what is QUEUED, as two lanes would. */
function startLanes(database: Database): { stop(): Promise<number> } {
  const store = database.store(2);
  const definition = definitionOf(defineJob({ id: "ping", run() {} }));
  const over = new AbortController();
  let done = 0;
  const lane = async (n: number): Promise<void> => {
    const worker = workerOf(store, definition, `lane ${n}`);
    while (!over.signal.aborted) {
      const { rows } = await database.pool.query<{ id: string; generation: number }>(
        "select id, generation from belfry.job where finished_at is null and state = 'QUEUED' and id % 2 = $1 order by id limit 100",
        [n],
      );
      if (rows.length < 100) await wait(50);
      const messages = rows.map((row) => ({ jobId: row.id as never, generation: row.generation, trace: "t" }));
      if (messages.length > 0) await worker.handle(recordsOf(messages), { remainingMs: () => 600_000 });
      done += messages.length;
    }
  };
  const loops = [lane(0), lane(1)];
  return {
    async stop() {
      over.abort();
      await Promise.all(loops);
      return done;
    },
  };
}

async function create(url: string, body: object): Promise<string> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(`${url}/jobs`, init);
  if (!response.ok) throw new Error(`POST /jobs answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}

function rssMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) / 1_024;
}
