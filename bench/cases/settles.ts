import pg from "pg";
import { openConnections, createPostgresStore } from "../../src/adapters/postgres/index.ts";
import type { Claimed, Store } from "../../src/core/ports/ports.ts";
import { afterCommit } from "../../src/core/delivery/after-commit.ts";
import type { Database, Ground } from "../ground.ts";
import { type Figure, measured, perSecond, rounds } from "../measure.ts";
import { portsWith, shared } from "../ports.ts";
import { aRun, claimant, claimed, emptyRuns, successOf, tasksOf } from "../run-rows.ts";

const count = 1_000;
const successors = 400;
const predecessorsOfEach = 8;
const connections = 16;

/** 1,000 single settles on 16 connections, whose jobs share successors, with a cancel of some of those after every tenth. */
export async function settles(ground: Ground): Promise<readonly Figure[]> {
  const rates: number[] = [];
  const deadlocks: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const database = await ground.database();
    rates.push(await settleAll(database, round));
    deadlocks.push(await deadlocksOf(database));
    await emptyRuns(database.pool);
  }
  return [
    measured("settles: deadlocks in 1,000", "", deadlocks, { valueMax: 0 }),
    measured("settles: one by one on 16 connections", "jobs/s", rates, { info: true }),
  ];
}

async function settleAll(database: Database, round: number): Promise<number> {
  const open = openConnections({ url: database.url, applicationName: "belfry bench settles", connections });
  const store = createPostgresStore(open);
  const roots: number[][] = Array.from({ length: count }, () => []);
  const joins = Array.from({ length: successors }, (_, n) => predecessorsOf(n, round));
  const running = await claimed(store, aRun(`settles-${round}`, tasksOf([...roots, ...joins])));
  const [run] = await store.runs({ limit: 1 });
  const waiting = run === undefined ? [] : await store.tasks(run.id, { states: ["PENDING"], limit: successors });
  const ids = waiting.map((task) => task.jobId);
  const rate = await perSecond(count, () =>
    shared(running.entries(), connections, async ([n, job]) => {
      await settleOne(store, job);
      if (n % 10 === 9) await store.cancel([0, 1, 2, 3, 4].flatMap((k) => ids[(n * 7 + k * 53) % ids.length] ?? []));
    }),
  );
  await open.close();
  return rate;
}

/** Different ones for each join, in no order. */
const predecessorsOf = (join: number, round: number): number[] => [
  ...new Set(
    Array.from({ length: predecessorsOfEach }, (_, n) => (join * 131 + n * (97 + round * 2) + n * n * 13) % count),
  ),
];

async function settleOne(store: Store, job: Claimed): Promise<void> {
  const { aftermath } = await store.settle([successOf(job)], { worker: claimant });
  await afterCommit(portsWith(store), aftermath);
}

/** Sessions report what they counted when they end, which they have. */
async function deadlocksOf({ url }: Database): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ sessions: number; deadlocks: number; commits: number }>(
        `select deadlocks::int, xact_commit::int as commits,
           (select count(*)::int from pg_stat_activity where application_name = 'belfry bench settles') as sessions
         from pg_stat_database where datname = current_database()`,
      );
      const seen = rows[0];
      if (seen !== undefined && seen.sessions === 0 && seen.commits > count) return seen.deadlocks;
    }
  } finally {
    await client.end();
  }
}
