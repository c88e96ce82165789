import type pg from "pg";
import type { JobDefinition } from "../../src/core/define/definition.ts";
import { createClient } from "../../src/core/delivery/enqueue.ts";
import type { Message, Store } from "../../src/core/ports/ports.ts";
import type { Database, Ground } from "../ground.ts";
import { inProcessQueue, sendingTo } from "../peers/queue.ts";
import { noOp, portsWith, recordsOf, workerOf } from "../ports.ts";
import { quantile } from "../rounds.ts";

const workers = 2;
const batch = 500;
const perCall = 1_000;
const jobsAStep = 5_000;
export const jobsAMark = 100_000;
/** Less than a definition may have, so that a row can leave as soon as another comes. */
const retentionMs = 1;
/** As a pass prunes. */
const prunedRowsMax = 1_000;
/** Worked before the first mark, and kept: a tenth of the whole soak. Fewer would show what lies around beside nothing. */
export const keptJobs = 1_000_000;
/** Written by every job, and emptied again. History and events are kept for their own time, in partitions that are dropped. */
const hotTables = ["job", "lease", "outbox"] as const;

/** What was measured after each 100,000 jobs: times and WAL of these, sizes as they stand then. */
export interface Mark {
  readonly jobs: number;
  readonly kept: number;
  readonly perSecond: number;
  readonly claimMs: Quantiles;
  readonly settleMs: Quantiles;
  readonly walBytesPerJob: number;
  /** Of the jobs, by Postgres's own count. */
  readonly deadRows: number;
  /** Of each hot table with its indexes. */
  readonly tables: Readonly<Record<string, number>>;
  /** The heap of the jobs, and each of its indexes. */
  readonly ofJob: Readonly<Record<string, number>>;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

/**
 * Enqueues and works `jobs` by the real store and workers at full speed while as many rows leave as come: `kept` jobs are worked
 * before and stay, so every mark finds the same number of rows. Autovacuum is as deployed.
 * @throws Error when a job is lost, or pruning does not keep up.
 */
export async function soak(
  ground: Pick<Ground, "database">,
  { jobs, kept: keep, jobsAMark }: { readonly jobs: number; readonly kept: number; readonly jobsAMark: number },
  tell: (text: string) => void,
): Promise<readonly Mark[]> {
  const database = await ground.database();
  const times: Times = { claim: [], settle: [] };
  const load = openLoad(database, times);
  for (let at = 0; at < keep; at += jobsAMark) {
    await steps(Math.min(jobsAMark, keep - at), jobsAStep, (count) => load.work(count));
    tell(`${Math.min(at + jobsAMark, keep)} of ${keep} jobs that are kept`);
  }
  const marks: Mark[] = [];
  const step = Math.min(jobsAStep, keep);
  for (let at = jobsAMark; at <= jobs; at += jobsAMark) {
    times.claim = [];
    times.settle = [];
    const [startedMs, walBefore] = [performance.now(), await walBytes(database.pool)];
    await steps(jobsAMark, step, (count) => Promise.all([load.work(count), prune(load.pruner, count)]));
    const perSecond = (jobsAMark * 1_000) / (performance.now() - startedMs);
    const { kept, ...sizes } = await state(database.pool);
    if (kept !== keep) throw new Error(`${kept} finished jobs are there after ${at}, not ${keep}`);
    const walBytesPerJob = ((await walBytes(database.pool)) - walBefore) / jobsAMark;
    const [claimMs, settleMs] = [quantiles(times.claim), quantiles(times.settle)];
    marks.push({ jobs: at, kept, perSecond, claimMs, settleMs, walBytesPerJob, ...sizes });
    tell(`${at} of ${jobs} jobs: ${Math.round(perSecond)} a second, claim p99 ${claimMs.p99.toFixed(1)} ms`);
  }
  await load.close();
  return marks;
}

interface Times {
  claim: number[];
  settle: number[];
}

async function steps(jobs: number, most: number, step: (count: number) => Promise<unknown>): Promise<void> {
  for (let left = jobs; left > 0; left -= most) await step(Math.min(most, left));
}

/** A queue in this process, two workers and a client, as `bench throughput`; pruning has a connection of its own. */
function openLoad(database: Database, times: Times) {
  const waiting = inProcessQueue<Message>();
  const queue = sendingTo(waiting);
  const definition: JobDefinition = { ...noOp(), retentionMs };
  const client = createClient(portsWith(database.store(1), queue), { stage: "bench" });
  const handlers = Array.from({ length: workers }, (_, n) =>
    workerOf(timed(database.store(1), times), definition, `worker-${n + 1}`),
  );
  let open = 0;
  let allDone = (): void => {};
  waiting.work(workers, batch, async (page, loop) => {
    const { failed } = (await handlers[loop]?.handle(recordsOf(page), { remainingMs: () => 600_000 })) ?? {
      failed: [],
    };
    if (failed.length > 0) throw new Error(`${failed.length} messages were given back`);
    open -= page.length;
    if (open === 0) allDone();
  });
  return {
    pruner: database.store(1),
    async work(count: number): Promise<void> {
      open = count;
      const done = new Promise<void>((resolve) => (allDone = resolve));
      for (let sent = 0; sent < count; sent += perCall) {
        const items = Array.from({ length: Math.min(perCall, count - sent) }, () => ({ payload: undefined }));
        await client.enqueue(definition, items);
      }
      await done;
    },
    close: () => waiting.close(),
  };
}

function timed(store: Store, times: Times): Store {
  const clocked =
    <A extends unknown[], R>(of: keyof Times, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const startedMs = performance.now();
      const answer = await call(...args);
      times[of].push(performance.now() - startedMs);
      return answer;
    };
  return { ...store, claim: clocked("claim", store.claim), settle: clocked("settle", store.settle) };
}

async function prune(store: Store, count: number): Promise<void> {
  for (let left = count; left > 0;) {
    const { jobs } = await store.prune({ limit: Math.min(prunedRowsMax, left) });
    if (jobs === 0) throw new Error(`pruning found no row with ${left} still to leave`);
    left -= jobs;
  }
}

const quantiles = (times: readonly number[]): Quantiles => ({ p50: quantile(times, 0.5), p99: quantile(times, 0.99) });

async function walBytes(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes");
  return Number(rows[0]?.bytes);
}

async function state(pool: pg.Pool): Promise<Pick<Mark, "kept" | "deadRows" | "tables" | "ofJob">> {
  const { rows } = await pool.query<{ kept: number; dead: number }>(
    `select (select count(*)::int from belfry.job where state = 'SUCCESS') as kept,
       (select n_dead_tup::int from pg_stat_user_tables where relid = 'belfry.job'::regclass) as dead`,
  );
  return {
    kept: rows[0]?.kept ?? 0,
    deadRows: rows[0]?.dead ?? 0,
    tables: await bytes(
      pool,
      "select relname as name, pg_total_relation_size(oid) as bytes from pg_class where oid = any($1::regclass[])",
      [hotTables.map((name) => `belfry.${name}`)],
    ),
    ofJob: await bytes(
      pool,
      `select c.relname as name, pg_relation_size(c.oid) as bytes from pg_class c
       where c.oid = $1::regclass or c.oid in (select indexrelid from pg_index where indrelid = $1::regclass) order by c.relkind desc, name`,
      ["belfry.job"],
    ),
  };
}

async function bytes(pool: pg.Pool, text: string, values: unknown[]): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ name: string; bytes: string }>(text, values);
  return Object.fromEntries(rows.map((row) => [row.name, Number(row.bytes)]));
}
