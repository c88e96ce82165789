import pg from "pg";
import { type Database, type Ground } from "../ground.ts";
import { rounds as countedRounds } from "../rounds.ts";
import { type ContenderName, contenderNames } from "./contender.ts";
import { installedPeers } from "./installed.ts";
import type { Round, Rounds, StretchName } from "./judge.ts";
import { bytesOf, type Corner, stretch, type Stretch } from "./ring.ts";
import { type Started, start } from "./start.ts";
import { tablesOf } from "./tables.ts";

/** What a run is made of at `size` 1; a smaller one shows that it runs, not what is quick. */
const whole = {
  jobs: 20_000,
  single: 300,
  perCall: 1_000,
  analyzed: 5_000,
  crowd: 1_000_000,
  idle: 60,
  loaded: 100,
  perSecond: 1_000,
};
const crowded: readonly ContenderName[] = ["belfry", "graphile-worker", "pg-boss"];

export type Plan = typeof whole;

export function planOf(size: number): Plan {
  const part = (count: number, least: number): number => Math.max(least, Math.round(count * size));
  return {
    ...whole,
    jobs: part(whole.jobs, 1_000),
    single: part(whole.single, 20),
    analyzed: part(whole.analyzed, 1_000),
    crowd: part(whole.crowd, 1_000),
    idle: part(whole.idle, 10),
    loaded: part(whole.loaded, 20),
  };
}

/**
 * Belfry, its roof and two other queues on one server, one at a time, in turns whose first changes with each round. Each is in a
 * process of its own with a database of its own.
 * @param size a part of the whole run, above 0, at most 1
 * @throws Error when a contender loses a job.
 */
export async function peers(ground: Ground, size: number, tell: (text: string) => void): Promise<Rounds> {
  const plan = planOf(size);
  const folder = await installedPeers();
  const sqs = await ground.sqs();
  const opened: Opened[] = [];
  try {
    const open = async (name: ContenderName): Promise<Opened> => {
      const database = await ground.database();
      const process = await start({ name, url: database.url, peers: folder, sqs: sqs.url });
      const corner = { name, process, pool: await own(database), tables: tablesOf[name], mark: 0 };
      opened.push(corner);
      await leaveUnattended(corner);
      return corner;
    };
    const empty = new Map<ContenderName, Opened>();
    for (const name of contenderNames) empty.set(name, await open(name));
    const full = new Map<ContenderName, Opened>();
    for (const name of crowded) {
      const corner = await open(name);
      await corner.tables.crowd(corner.pool, plan.crowd);
      full.set(name, corner);
      tell(`${name} has its crowd of ${plan.crowd} done and ${plan.crowd} later`);
    }
    return await inTurns({ plan, empty, full, tell });
  } finally {
    for (const { process, pool } of opened) {
      await process.close();
      await pool.end();
    }
  }
}

interface Opened extends Corner {
  readonly process: Started;
  readonly pool: pg.Pool;
}

interface Ring {
  readonly plan: Plan;
  readonly empty: ReadonlyMap<ContenderName, Opened>;
  readonly full: ReadonlyMap<ContenderName, Opened>;
  tell(text: string): void;
}

/** One round that does not count comes before. */
async function inTurns({ plan, empty, full, tell }: Ring): Promise<Rounds> {
  const done = Object.fromEntries(contenderNames.map((name) => [name, []])) as unknown as Record<
    ContenderName,
    Round[]
  >;
  for (let round = 0; round <= countedRounds; round += 1) {
    for (let turn = 0; turn < contenderNames.length; turn += 1) {
      const name = contenderNames[(turn + round) % contenderNames.length] ?? "roof";
      const corner = empty.get(name);
      if (corner === undefined) continue;
      const result = await roundOf(corner, full.get(name) ?? null, plan);
      if (round > 0) done[name].push(result);
    }
    tell(`round ${round} of ${countedRounds} is over`);
  }
  return done;
}

/** Vacuum and analyze come when the round says, not in the middle of one contender's stretch. */
async function leaveUnattended({ pool, tables }: Corner): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    "select c.oid::regclass::text as name from pg_class c where c.relnamespace = $1::regnamespace and c.relkind = 'r'",
    [tables.schema],
  );
  for (const { name } of rows) await pool.query(`alter table ${name} set (autovacuum_enabled = false)`);
}

/** The connection of the bench itself; its CPU is not counted. */
const own = async (database: Database): Promise<pg.Pool> =>
  new pg.Pool({ connectionString: database.url, max: 1, application_name: "bench peers" });

async function roundOf(corner: Opened, full: Opened | null, plan: Plan): Promise<Round> {
  const { name, process } = corner;
  await emptied(corner);
  if (name === "belfry-sqs") {
    const { ms: idleMs } = await process.ask({ do: "idle", samples: plan.idle }, "latency");
    return { stretches: {}, idleMs, loadedMs: [], keptBytes: null };
  }
  const { jobs, perCall } = plan;
  const made: Partial<Record<StretchName, Stretch>> = {};
  const bulk = { first: 0, count: jobs, perCall };
  made.single = await stretch(corner, { insert: { first: 0, count: plan.single, perCall: 1 }, work: 0 });
  await emptied(corner);
  const emptyBytes = await bytesOf(corner);
  made.insert = await stretch(corner, { insert: bulk, work: 0 });
  // Statistics of a queue that has jobs: the queues' best plans are made from them, and the roof's without any.
  const isQueue = name !== "roof";
  if (isQueue) await corner.pool.query("analyze");
  made.drain = await stretch(corner, { insert: null, work: jobs });
  made.both = await stretch(corner, { insert: bulk, work: jobs });
  await corner.pool.query(`vacuum (truncate false${isQueue ? ", analyze" : ""})`);
  made["both analyzed"] = await stretch(corner, { insert: { ...bulk, count: plan.analyzed }, work: plan.analyzed });
  const keptBytes = ((await bytesOf(corner)) - emptyBytes) / (2 * jobs + plan.analyzed);
  if (full !== null) {
    await full.pool.query("vacuum");
    await stretch(full, { insert: bulk, work: 0 });
    made["drain beside"] = await stretch(full, { insert: null, work: jobs });
    made["both beside"] = await stretch(full, { insert: bulk, work: jobs });
  }
  await emptied(corner);
  if (name === "roof") return { stretches: made, idleMs: [], loadedMs: [], keptBytes };
  const { ms: idleMs } = await process.ask({ do: "idle", samples: plan.idle }, "latency");
  const { ms: loadedMs } = await process.ask(
    { do: "loaded", samples: plan.loaded, perSecond: plan.perSecond },
    "latency",
  );
  return { stretches: made, idleMs, loadedMs, keptBytes };
}

async function emptied({ process, pool, tables }: Opened): Promise<void> {
  await process.ask({ do: "forget" }, "nothing");
  await pool.query(tables.empty);
  await pool.query("vacuum");
}
