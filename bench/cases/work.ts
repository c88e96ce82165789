import type pg from "pg";
import type { Message } from "../../src/machine/outbox.ts";
import type { Worker } from "../../src/run/worker.ts";
import type { Database, Ground } from "../ground.ts";
import { compared, inTurns, perSecond, rounds, type Figure } from "../measure.ts";
import { noOp, pagesOf, recordsOf, shared, workerOf } from "../ports.ts";
import { rawWork } from "../raw-cas.ts";
import { emptyTables, loadQueued } from "../rows.ts";

const jobs = 8_000;
const batch = 10;
const connections = 4;
const remainingMs = (): number => 600_000;

/** Four workers with batches of 10, a handler that does nothing, beside two bare compare-and-sets; and what it costs Postgres. */
export async function work(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  const workers = workersOf(database, connections);
  const cpu = { product: [] as number[], roof: [] as number[] };
  const pairs = await inTurns({
    async product() {
      await emptyTables(database.pool);
      const messages = await loadQueued(database.pool, "belfry", jobs);
      const before = await database.cpuUs("stores");
      const rate = await perSecond(jobs, () => workAll(workers, messages, batch));
      cpu.product.push(((await database.cpuUs("stores")) - before) / jobs);
      return rate;
    },
    async roof() {
      await emptyTables(database.pool);
      const messages = await loadQueued(database.pool, "raw", jobs);
      const before = await database.cpuUs("roof");
      const rate = await rawRate(database, messages, { connections, batch });
      cpu.roof.push(((await database.cpuUs("roof")) - before) / jobs);
      return rate;
    },
  });
  const cpuPairs = cpu.product.slice(-rounds).map((product, n) => ({ product, roof: cpu.roof.slice(-rounds)[n] ?? 0 }));
  return [
    compared("work", "jobs/s", pairs, { ratioMin: 0.5 }),
    compared("work: Postgres CPU a job", "us", cpuPairs, { valueMax: 80 }),
  ];
}

/** Each worker has a store and a connection of its own, as each process of a lane has. */
export function workersOf(database: Database, count: number): readonly Worker[] {
  const definition = noOp();
  return Array.from({ length: count }, (_, n) => workerOf(database.store(1), definition, `worker-${n + 1}`));
}

export async function workAll(workers: readonly Worker[], messages: readonly Message[], size: number): Promise<void> {
  await shared(pagesOf(messages, size), workers.length, async (page, loop) => {
    const { failed } = (await workers[loop]?.handle(recordsOf(page), { remainingMs })) ?? { failed: [] };
    if (failed.length > 0) throw new Error(`${failed.length} messages were given back`);
  });
}

export async function rawRate(
  database: Database,
  messages: readonly Message[],
  how: { connections: number; batch: number },
): Promise<number> {
  const clients = await Promise.all(Array.from({ length: how.connections }, () => database.pool.connect()));
  try {
    return await perSecond(messages.length, () =>
      shared(pagesOf(messages, how.batch), clients.length, (page, loop) => rawWork(clientAt(clients, loop), page)),
    );
  } finally {
    for (const client of clients) client.release();
  }
}

function clientAt(clients: readonly pg.PoolClient[], loop: number): pg.PoolClient {
  const client = clients[loop];
  if (client === undefined) throw new Error(`there is no connection ${loop}`);
  return client;
}
