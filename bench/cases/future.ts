import type { Store } from "../../src/core/ports/ports.ts";
import type { Database, Ground } from "../ground.ts";
import { compared, inTurns, perSecond, type Figure } from "../measure.ts";
import { loadCrowd, loadQueued, loadWaiting } from "../rows.ts";
import { relayAll } from "./relay.ts";
import { workAll, workersOf } from "./work.ts";

const crowd = { future: 1_000_000, held: 100_000, finished: 1_000_000 };
const connections = 4;

/** Relay and worker with two million rows that are not due, beside the same with a table that holds nothing else. */
export async function future(ground: Ground): Promise<readonly Figure[]> {
  const empty = await ground.database();
  const full = await ground.database();
  await loadCrowd(full.pool, crowd);
  await loadCrowd(empty.pool, { future: 0, held: 0, finished: 0 });
  const stores = { full: full.store(1), empty: empty.store(1) };
  const workers = { full: workersOf(full, connections), empty: workersOf(empty, connections) };
  const figures: Figure[] = [];
  for (const { batch, jobs } of [
    { batch: 500, jobs: 20_000 },
    { batch: 10, jobs: 4_000 },
  ]) {
    const relay = await inTurns({
      product: () => relayRate(full, stores.full, jobs, batch),
      roof: () => relayRate(empty, stores.empty, jobs, batch),
    });
    figures.push(compared(`future: relay by ${batch}`, "jobs/s", relay, { ratioMin: 0.9 }));
    const work = await inTurns({
      product: () => workRate(full, workers.full, jobs, batch),
      roof: () => workRate(empty, workers.empty, jobs, batch),
    });
    figures.push(compared(`future: work by ${batch}`, "jobs/s", work, { ratioMin: 0.9 }));
  }
  return figures;
}

async function relayRate(database: Database, store: Store, jobs: number, batch: number): Promise<number> {
  await loadWaiting(database.pool, "belfry", jobs);
  const rate = await perSecond(jobs, () => relayAll(store, jobs, batch));
  await dropRound(database);
  return rate;
}

async function workRate(
  database: Database,
  workers: ReturnType<typeof workersOf>,
  jobs: number,
  batch: number,
): Promise<number> {
  const messages = await loadQueued(database.pool, "belfry", jobs);
  const rate = await perSecond(jobs, () => workAll(workers, messages, batch));
  await dropRound(database);
  return rate;
}

/** What a round added goes, the crowd stays. */
async function dropRound({ pool }: Database): Promise<void> {
  await pool.query("delete from belfry.job where state = 'QUEUED' or (state = 'SUCCESS' and started_at is not null)");
  await pool.query("truncate belfry.lease, belfry.event, belfry.history, belfry.outbox");
  await pool.query("vacuum belfry.job");
}
