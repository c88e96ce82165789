import type pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuUs } from "../backend-cpu.ts";
import { contenderApplication, type ContenderName } from "./contender.ts";
import type { Started } from "./start.ts";
import type { Tables } from "./tables.ts";

/** A contender with its database, as a round sees it. */
export interface Corner {
  readonly name: ContenderName;
  readonly process: Pick<Started, "ask">;
  readonly pool: Pick<pg.Pool, "query">;
  readonly tables: Tables;
  /** Where the jobs of its last insert begin. */
  mark: unknown;
}

/** What one stretch of work took. All but the rate are a job. */
export interface Stretch {
  readonly perSecond: number;
  /** Of the backends. */
  readonly postgresUs: number;
  readonly nodeUs: number;
  /** Of the whole server: one contender works at a time. */
  readonly walBytes: number;
}

const finishMsMax = 60_000;

export interface Work {
  readonly insert: { readonly first: number; readonly count: number; readonly perCall: number } | null;
  /** Jobs to work off. */
  readonly work: number;
}

/**
 * From the call until the tables say that all have ended.
 * @throws Error naming the contender that lost a job, or has not ended one.
 */
export async function stretch(corner: Corner, ask: Work): Promise<Stretch> {
  const { process, pool } = corner;
  const jobs = ask.work > 0 ? ask.work : (ask.insert?.count ?? 0);
  const { insert } = ask;
  // Jobs that are there already are worked off too: their run began where the run before ended.
  const mark = insert === null ? corner.mark : await markOf(corner);
  corner.mark = mark;
  const doneBefore = await doneIn(corner);
  const before = { wal: await walBytes(pool), backends: await backends(pool) };
  const startedMs = performance.now();
  await process.ask({ do: "run", ...ask }, "run");
  if (ask.work > 0) await ended(corner, mark);
  const tookMs = performance.now() - startedMs;
  const postgresUs = [...(await backends(pool))].reduce(
    (sum, [pid, us]) => sum + us - (before.backends.get(pid) ?? 0),
    0,
  );
  const wal = (await walBytes(pool)) - before.wal;
  const { nodeUs, started, starts } = await process.ask({ do: "stop" }, "stop");
  if (ask.work > 0) account(corner.name, { jobs, started, starts, done: await doneSince(corner, doneBefore) });
  return {
    perSecond: (jobs * 1_000) / tookMs,
    postgresUs: postgresUs / jobs,
    nodeUs: nodeUs / jobs,
    walBytes: wal / jobs,
  };
}

/** What became of the jobs of a stretch. `done` is null where a job that ended leaves no row. */
export interface Account {
  readonly jobs: number;
  readonly started: number;
  readonly starts: number;
  readonly done: number | null;
}

/** @throws Error for a job that was lost, or ran twice without a fault. */
export function account(name: string, { jobs, started, starts, done }: Account): void {
  if (started < jobs)
    throw new Error(`${name} lost jobs: ${started} of ${jobs} have started, and none is left to start`);
  if (starts > jobs) throw new Error(`${name} ran jobs twice: ${starts} starts of ${jobs} jobs`);
  if (done !== null && done !== jobs)
    throw new Error(`${name} lost outcomes: ${done} of ${jobs} jobs are kept as done`);
}

/** What the tables of a contender are asked through. */
export type Asked = Pick<Corner, "name" | "pool" | "tables">;

/** Resolves when no job after the mark is unfinished. @throws Error */
export async function ended({ name, pool, tables }: Asked, mark: unknown): Promise<void> {
  const untilMs = performance.now() + finishMsMax;
  for (;;) {
    const { rows } = await pool.query<{ exists: boolean }>(tables.unfinished, [mark]);
    if (rows[0]?.exists === false) return;
    if (performance.now() > untilMs)
      throw new Error(`${name} left jobs unfinished ${finishMsMax} ms after the last start`);
    await sleep(2);
  }
}

export async function markOf({ pool, tables }: Asked): Promise<unknown> {
  const { rows } = await pool.query<{ mark: unknown }>(tables.mark);
  return rows[0]?.mark;
}

async function doneIn({ pool, tables }: Corner): Promise<number | null> {
  if (tables.done === null) return null;
  const { rows } = await pool.query<{ count: number }>(tables.done);
  return rows[0]?.count ?? 0;
}

async function doneSince(corner: Corner, before: number | null): Promise<number | null> {
  const now = await doneIn(corner);
  return now === null || before === null ? null : now - before;
}

export async function walBytes(pool: Corner["pool"]): Promise<number> {
  const { rows } = await pool.query<{ bytes: string }>("select pg_current_wal_insert_lsn() - '0/0' as bytes");
  return Number(rows[0]?.bytes);
}

/** The CPU of each backend so far, in microseconds. */
async function backends(pool: Corner["pool"]): Promise<ReadonlyMap<number, number>> {
  const { rows } = await pool.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name = $1",
    [contenderApplication],
  );
  return new Map(rows.map(({ pid }) => [pid, cpuUs(pid)]));
}

/** Bytes of all tables of the schema with their indexes, after a vacuum. */
export async function bytesOf({ pool, tables }: Corner): Promise<number> {
  await pool.query("vacuum");
  const { rows } = await pool.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes from pg_class c
     where c.relnamespace = $1::regnamespace and c.relkind = 'r'`,
    [tables.schema],
  );
  return Number(rows[0]?.bytes);
}
