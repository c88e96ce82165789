import type { JobDefinition } from "../../src/core/define/definition.ts";
import { createClient } from "../../src/core/delivery/enqueue.ts";
import type { Message, Store } from "../../src/core/ports/ports.ts";
import type { Database, Ground } from "../ground.ts";
import { inProcessQueue, sendingTo } from "../peers/queue.ts";
import { noOp, portsWith, recordsOf, workerOf } from "../ports.ts";
import { type HotTables, layByWork, type Mark, marksOf, type Plan, type Times } from "./marks.ts";

/** A soak of a peer has the same of each. */
export const workers = 2;
export const batch = 500;
export const perCall = 1_000;
/** Less than a definition may have, so that a row can leave as soon as another comes. */
const retentionMs = 1;
/** As a pass prunes. */
const prunedRowsMax = 1_000;
/** History and events are kept for their own time, in partitions that are dropped. */
const hot: HotTables = {
  schema: "belfry",
  names: ["job", "lease", "outbox"],
  job: "job",
  kept: "select count(*)::int from belfry.job where state = 'SUCCESS'",
};

/**
 * Enqueues and works `jobs` by the real store and workers at full speed while as many rows leave as come: `kept` jobs are worked
 * before and stay, so every mark finds the same number of rows. Autovacuum is as deployed.
 * @throws Error when a job is lost, or pruning does not keep up.
 */
export async function soak(
  ground: Pick<Ground, "database">,
  plan: Plan,
  tell: (text: string) => void,
): Promise<readonly Mark[]> {
  const database = await ground.database();
  const times: Times = { claim: [], settle: [] };
  const { pruner, work, close } = openLoad(database, times);
  const load = {
    pool: database.pool,
    hot,
    times,
    keepsExactly: true,
    lay: (rows: number) => layByWork(rows, work, tell),
    turn: async (count: number) => void (await Promise.all([work(count), prune(pruner, count)])),
  };
  const marks = await marksOf(load, plan, tell);
  await close();
  return marks;
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
