import type { Ground } from "../ground.ts";
import { median } from "../rounds.ts";
import { createMeter, type Used } from "./meter.ts";
import { openWorld } from "./world.ts";
import { app, type Work, works } from "./works.ts";

/** What one job of a kind of work costs. */
export type Cost = Readonly<Used> & {
  readonly work: string;
  /** Bytes of tables and indexes once all have ended, after a vacuum. */
  readonly keptBytes: number;
};

const jobsWhole = 2_000;
const rounds = 3;

/** @param size a part of 2,000 jobs a round, above 0, at most 1 */
export async function cost(ground: Ground, size: number): Promise<readonly Cost[]> {
  const costs: Cost[] = [];
  for (const work of works) {
    const all: Cost[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const once = await costOf(ground, work, Math.max(100, Math.round(jobsWhole * size)));
      if (round > 0) all.push(once);
    }
    costs.push(middle(work.name, all));
    process.stderr.write(`${work.name} is measured\n`);
  }
  return costs;
}

/** Autovacuum comes when it comes, and its WAL with it: without counts it never comes, and what is written is the same each time. */
const settings = ["track_counts = off"];

/** One round, with a database of its own, so that it starts with nothing. */
export async function costOf(ground: Ground, work: Work, jobs: number): Promise<Cost> {
  const database = await ground.database({ settings });
  const meter = createMeter(database);
  const world = openWorld(app, database, meter);
  await work.prepare?.(world, jobs);
  const before = { done: await doneIn(database), bytes: await bytesOf(database) };
  await meter.during(() => work.run(world, jobs));
  const done = (await doneIn(database)) - before.done;
  if (done < jobs) throw new Error(`${work.name}: ${done} of ${jobs} jobs have ended with SUCCESS`);
  const keptBytes = ((await bytesOf(database)) - before.bytes) / done;
  await world.close();
  await database.close();
  const aJob = Object.fromEntries(Object.entries(meter.used).map(([field, amount]) => [field, amount / done]));
  return { work: work.name, ...(aJob as unknown as Used), keptBytes };
}

/** Field by field: the quickest round need not be the one with the fewest bytes. */
export function middle(work: string, all: readonly Cost[]): Cost {
  const fields = Object.keys(all[0] ?? {}).filter((field) => field !== "work") as Exclude<keyof Cost, "work">[];
  const medians = fields.map((field) => [field, median(all.map((each) => each[field]))]);
  return { work, ...(Object.fromEntries(medians) as Omit<Cost, "work">) };
}

type Database = Awaited<ReturnType<Ground["database"]>>;

async function doneIn({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ n: number }>("select count(*)::int as n from belfry.job where state = 'SUCCESS'");
  return rows[0]?.n ?? 0;
}

async function bytesOf({ pool }: Database): Promise<number> {
  await pool.query("vacuum");
  const { rows } = await pool.query<{ bytes: string }>(
    `select coalesce(sum(pg_total_relation_size(oid)), 0) as bytes from pg_class
     where relnamespace = 'belfry'::regnamespace and relkind = 'r'`,
  );
  return Number(rows[0]?.bytes);
}
