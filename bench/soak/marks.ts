import type pg from "pg";
import { quantile } from "../rounds.ts";

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
  /** Of each hot table with its indexes. */
  readonly tables: Readonly<Record<string, number>>;
  /** The heap of the jobs, and each of its indexes. */
  readonly ofJob: Readonly<Record<string, number>>;
}

export interface Quantiles {
  readonly p50: number;
  readonly p99: number;
}

export interface Plan {
  readonly jobs: number;
  readonly kept: number;
  readonly jobsAMark: number;
}

/** Of each claim and settle since the last mark, in milliseconds. */
export interface Times {
  claim: number[];
  settle: number[];
}

/** Those that every job writes, and that are emptied again. */
export interface HotTables {
  readonly schema: string;
  readonly names: readonly string[];
  /** The one of them with the jobs. */
  readonly job: string;
  /** Counts the rows that lie around, as `kept`. */
  readonly kept: string;
}

/** One system under the load of a soak. */
export interface Load {
  readonly pool: Pick<pg.Pool, "query">;
  readonly hot: HotTables;
  readonly times: Times;
  /** Whether each mark must find just the rows that were laid. */
  readonly keepsExactly: boolean;
  /** Lays the rows that are kept. */
  lay(rows: number, tell: (text: string) => void): Promise<void>;
  /** Enqueues and works these, while finished rows leave. Resolves when all outcomes are written. */
  turn(count: number): Promise<void>;
}

/**
 * Enqueues and works `jobs` beside `kept` rows, as fast as the load goes.
 * @throws Error when a job is lost, or what leaves does not keep up.
 */
export async function marksOf(
  load: Load,
  { jobs, kept: keep, jobsAMark }: Plan,
  tell: (text: string) => void,
): Promise<readonly Mark[]> {
  const { pool, hot, times, keepsExactly } = load;
  await load.lay(keep, tell);
  const marks: Mark[] = [];
  const step = Math.min(jobsAStep, keep);
  for (let at = jobsAMark; at <= jobs; at += jobsAMark) {
    times.claim = [];
    times.settle = [];
    const [startedMs, walBefore] = [performance.now(), await walBytes(pool)];
    await steps(jobsAMark, step, (count) => load.turn(count));
    const perSecond = (jobsAMark * 1_000) / (performance.now() - startedMs);
    const { kept, ...sizes } = await state(pool, hot);
    if (keepsExactly && kept !== keep) throw new Error(`${kept} kept jobs are there after ${at}, not ${keep}`);
    const walBytesPerJob = ((await walBytes(pool)) - walBefore) / jobsAMark;
    const [claimMs, settleMs] = [quantiles(times.claim), quantiles(times.settle)];
    marks.push({ jobs: at, kept, perSecond, claimMs, settleMs, walBytesPerJob, ...sizes });
    tell(`${at} of ${jobs} jobs: ${Math.round(perSecond)} a second, claim p99 ${claimMs.p99.toFixed(1)} ms`);
  }
  return marks;
}

/** Works rows that stay, and says how far it is. */
export async function layByWork(
  rows: number,
  work: (count: number) => Promise<unknown>,
  tell: (text: string) => void,
): Promise<void> {
  for (let at = 0; at < rows; at += jobsAMark) {
    await steps(Math.min(jobsAMark, rows - at), jobsAStep, work);
    tell(`${Math.min(at + jobsAMark, rows)} of ${rows} jobs that are kept`);
  }
}

async function steps(jobs: number, most: number, step: (count: number) => Promise<unknown>): Promise<void> {
  for (let left = jobs; left > 0; left -= most) await step(Math.min(most, left));
}

const quantiles = (times: readonly number[]): Quantiles => ({ p50: quantile(times, 0.5), p99: quantile(times, 0.99) });

async function walBytes(pool: Load["pool"]): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes");
  return Number(rows[0]?.bytes);
}

async function state(
  pool: Load["pool"],
  { schema, names, job, kept }: HotTables,
): Promise<Pick<Mark, "kept" | "deadRows" | "tables" | "ofJob">> {
  const { rows } = await pool.query<{ kept: number; dead: number }>(
    `select (${kept}) as kept, (select n_dead_tup::int from pg_stat_user_tables where relid = '${schema}.${job}'::regclass) as dead`,
  );
  return {
    kept: rows[0]?.kept ?? 0,
    deadRows: rows[0]?.dead ?? 0,
    tables: await bytes(
      pool,
      "select relname as name, pg_total_relation_size(oid) as bytes from pg_class where oid = any($1::regclass[])",
      [names.map((name) => `${schema}.${name}`)],
    ),
    ofJob: await bytes(
      pool,
      `select c.relname as name, pg_relation_size(c.oid) as bytes from pg_class c
       where c.oid = $1::regclass or c.oid in (select indexrelid from pg_index where indrelid = $1::regclass) order by c.relkind desc, name`,
      [`${schema}.${job}`],
    ),
  };
}

async function bytes(pool: Load["pool"], text: string, values: unknown[]): Promise<Readonly<Record<string, number>>> {
  const { rows } = await pool.query<{ name: string; bytes: string }>(text, values);
  return Object.fromEntries(rows.map((row) => [row.name, Number(row.bytes)]));
}
