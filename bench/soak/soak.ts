import type pg from "pg";
import type { JobDefinition } from "../../src/define/definition.ts";
import { createClient } from "../../src/run/enqueue.ts";
import type { Message } from "../../src/machine/outbox.ts";
import type { Store } from "../../src/machine/store.ts";
import type { Database, Ground } from "../ground.ts";
import { inProcessQueue, sendingTo } from "../peers/queue.ts";
import { walBytes } from "../peers/ring.ts";
import { noOp, portsWith, recordsOf, workerOf } from "../ports.ts";
import { quantile } from "../rounds.ts";

const workers = 2;
const batch = 500;
const perCall = 1_000;
/** Less than a definition may have, so that a row can leave as soon as another comes. */
const retentionMs = 1;
/** As a pass prunes. */
const prunedRowsMax = 1_000;
const jobsAStep = 5_000;
export const jobsAMark = 100_000;
/** There before the first mark, and kept: a tenth of the whole soak. Fewer would show what lies around beside nothing. */
export const keptJobs = 1_000_000;

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
  /** Of each table that every job writes and that is emptied again, with its indexes. */
  readonly tables: Readonly<Record<string, number>>;
  /** The heap of the jobs, and each of its indexes. */
  readonly ofJob: Readonly<Record<string, number>>;
}

interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

/** Of each claim and settle since the last mark, in milliseconds. */
interface Times {
  claim: number[];
  settle: number[];
}

type Tell = (text: string) => void;

/**
 * Enqueues and works `jobs` by the real store and workers at full speed while as many rows leave as come: `kept` jobs are worked
 * before and stay, so every mark finds the same number of rows. Autovacuum is as deployed.
 * @throws Error when a job is lost, or pruning does not keep up.
 */
export async function soak(
  ground: Pick<Ground, "database">,
  plan: { readonly jobs: number; readonly kept: number; readonly jobsAMark: number },
  tell: Tell,
): Promise<readonly Mark[]> {
  const database = await ground.database();
  const { pool } = database;
  const times: Times = { claim: [], settle: [] };
  const { pruner, work, close } = openLoad(database, times);
  await layKept(plan.kept, work, tell);
  const marks: Mark[] = [];
  const turn = async (count: number): Promise<unknown> => await Promise.all([work(count), prune(pruner, count)]);
  for (let at = plan.jobsAMark; at <= plan.jobs; at += plan.jobsAMark) {
    [times.claim, times.settle] = [[], []];
    const [startedMs, walBefore] = [performance.now(), await walBytes(pool)];
    await steps(plan.jobsAMark, Math.min(jobsAStep, plan.kept), turn);
    const perSecond = (plan.jobsAMark * 1_000) / (performance.now() - startedMs);
    const { kept, ...sizes } = await state(pool);
    if (kept !== plan.kept) throw new Error(`${kept} kept jobs are there after ${at}, not ${plan.kept}`);
    const walBytesPerJob = ((await walBytes(pool)) - walBefore) / plan.jobsAMark;
    const [claimMs, settleMs] = [quantiles(times.claim), quantiles(times.settle)];
    marks.push({ jobs: at, kept, perSecond, claimMs, settleMs, walBytesPerJob, ...sizes });
    tell(`${at} of ${plan.jobs} jobs: ${Math.round(perSecond)} a second, claim p99 ${claimMs.p99.toFixed(1)} ms`);
  }
  await close();
  return marks;
}

async function layKept(rows: number, work: (count: number) => Promise<unknown>, tell: Tell): Promise<void> {
  for (let at = 0; at < rows; at += jobsAMark) {
    await steps(Math.min(jobsAMark, rows - at), jobsAStep, work);
    tell(`${Math.min(at + jobsAMark, rows)} of ${rows} jobs that are kept`);
  }
}

async function steps(jobs: number, most: number, step: (count: number) => Promise<unknown>): Promise<void> {
  for (let left = jobs; left > 0; left -= most) await step(Math.min(most, left));
}

/** A queue in this process, two workers and a client, as `bench throughput`; pruning has a connection of its own. */
function openLoad(database: Database, times: Times) {
  const waiting = inProcessQueue<Message>();
  const queue = sendingTo(waiting);
  const definition: JobDefinition = { ...noOp(), retentionMs };
  const client = createClient(portsWith(database.store(1), queue));
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

/** History and events are not measured: they are kept for their own time, in partitions that are dropped. */
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
      `select relname as name, pg_total_relation_size(oid) as bytes from pg_class
       where oid = any('{belfry.job,belfry.lease,belfry.outbox}'::regclass[])`,
    ),
    ofJob: await bytes(
      pool,
      `select c.relname as name, pg_relation_size(c.oid) as bytes from pg_class c where c.oid = 'belfry.job'::regclass
         or c.oid in (select indexrelid from pg_index where indrelid = 'belfry.job'::regclass) order by c.relkind desc, name`,
    ),
  };
}

async function bytes(pool: pg.Pool, text: string): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ name: string; bytes: string }>(text);
  return Object.fromEntries(rows.map((row) => [row.name, Number(row.bytes)]));
}
