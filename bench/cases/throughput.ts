import { createClient } from "../../src/run/enqueue.ts";
import type { Message } from "../../src/machine/outbox.ts";
import type { Queue } from "../../src/machine/ports.ts";
import type { Database, Ground } from "../ground.ts";
import { compared, inTurns, perSecond, type Figure } from "../measure.ts";
import { noOp, pagesOf, portsWith, recordsOf } from "../ports.ts";
import { emptyTables, loadQueued } from "../rows.ts";
import { rawRate, workersOf } from "./work.ts";

const jobs = 20_000;
const batch = 500;
const perCall = 1_000;
const connections = 2;

/** Enqueue -> finished in one process, batches of 500, Postgres only, beside bare claim and complete at the same batch. */
export async function throughput(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  const workers = workersOf(database, connections);
  const enqueueStore = database.store(1);
  const pairs = await inTurns({
    async product() {
      await emptyTables(database.pool);
      const rate = await perSecond(jobs, () => enqueueAndFinish(enqueueStore, workers));
      await assertFinished(database);
      return rate;
    },
    async roof() {
      await emptyTables(database.pool);
      const messages = await loadQueued(database.pool, "raw", jobs);
      return rawRate(database, messages, { connections, batch });
    },
  });
  return [compared("throughput", "jobs/s", pairs, { ratioMin: 0.4 })];
}

/** A queue in this process: what is sent is worked on by whichever worker is free, 500 at a time. */
async function enqueueAndFinish(
  store: ReturnType<Database["store"]>,
  workers: ReturnType<typeof workersOf>,
): Promise<void> {
  const waiting: Message[] = [];
  const bell = { ring: (): void => {} };
  const queue: Queue = {
    async send(_lane, messages) {
      waiting.push(...messages);
      bell.ring();
      return { failed: [] };
    },
    depth: async () => ({ visible: waiting.length, inFlight: 0, delayed: 0 }),
  };
  const client = createClient(portsWith(store, queue));
  let isEnqueued = false;
  const enqueuing = enqueueAll(client).then(() => {
    isEnqueued = true;
    bell.ring();
  });
  const rings: (() => void)[] = [];
  bell.ring = () => {
    for (const wake of rings.splice(0)) wake();
  };
  const loops = workers.map(async (worker) => {
    // oxlint-disable-next-line no-unmodified-loop-condition -- the enqueuing below sets it while this loop waits
    while (!isEnqueued || waiting.length > 0) {
      const page = waiting.splice(0, batch);
      if (page.length === 0) await new Promise<void>((resolve) => void rings.push(resolve));
      else await worker.handle(recordsOf(page), { remainingMs: () => 600_000 });
    }
  });
  await Promise.all([enqueuing, ...loops]);
}

async function enqueueAll(client: ReturnType<typeof createClient>): Promise<void> {
  const definition = noOp();
  const items = Array.from({ length: jobs }, () => ({ payload: undefined }));
  for (const page of pagesOf(items, perCall)) await client.enqueue(definition, page);
}

async function assertFinished(database: Database): Promise<void> {
  const { rows } = await database.pool.query("select count(*)::int as n from belfry.job where state = 'SUCCESS'");
  if (rows[0]?.n !== jobs) throw new Error(`${rows[0]?.n} of ${jobs} jobs were finished`);
}
