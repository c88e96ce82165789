import type { Pool } from "pg";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { z } from "zod";
import { defineApp } from "../../src/define/define-app.ts";
import { defineFanOut } from "../../src/define/define-fan-out.ts";
import { definitionOf, defineJob } from "../../src/define/define-job.ts";
import { registry } from "../../src/define/definition.ts";
import { sql } from "../../src/define/query.ts";
import { createClient } from "../../src/run/enqueue.ts";
import { runLimits } from "../../src/machine/run-limits.ts";
import type { Message } from "../../src/machine/outbox.ts";
import type { Ports } from "../../src/machine/ports.ts";
import type { Store } from "../../src/machine/store.ts";
import { createWorker } from "../../src/run/worker.ts";
import type { Ground } from "../ground.ts";
import { compared, type Figure, inTurns, measured, perSecond } from "../measure.ts";
import { lane, noQueue, portsWith, recordsOf } from "../ports.ts";
import { newJobs } from "../rows.ts";
import { emptyRuns } from "../run-rows.ts";

const targets = 100_000;
const perCall = runLimits.fanOutPageRowsMax;

interface Subscriber {
  readonly id: number;
}

const push = defineJob({ id: "push", payload: z.object({ to: z.number() }), run: () => {} });

/** One job writes 100,000 targets from a query in pages, beside `insert` of as many jobs; and the memory it takes. */
export async function fanout(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  await database.pool.query(
    `create table subscriber as select n as id from generate_series(1, ${targets}) n; create unique index on subscriber (id)`,
  );
  const store = database.store(2);
  const heap: number[] = [];
  const grown: number[] = [];
  let round = 0;
  const pairs = await inTurns({
    async product() {
      round += 1;
      heap.length = 0;
      const message = await enqueued(store, `day-${round}`);
      const rate = await perSecond(targets, () => materialize({ store, pool: database.pool }, message, heap));
      grown.push((heap.at(-1) ?? 0) / (heap[0] ?? 1));
      await emptyRuns(database.pool);
      return rate;
    },
    async roof() {
      const rate = await perSecond(targets, () => insertAll(store));
      await emptyRuns(database.pool);
      return rate;
    },
  });
  return [
    compared("fanout: 100,000 targets", "jobs/s", pairs, { ratioMin: 0.5 }),
    measured("fanout: heap at the last page / at the tenth", "x", grown.slice(1), { valueMax: 1.2 }),
  ];
}

const daily = defineFanOut<Subscriber, { to: number }>({
  id: "daily",
  from: () => sql<Subscriber>`select id from subscriber`,
  each: push,
  key: (row, at) => `${at.scheduledFor.getTime()}:${row.id}`,
  payload: (row) => ({ to: row.id }),
});

async function enqueued(store: Store, key: string): Promise<Message> {
  const messages: Message[] = [];
  const queue = {
    ...noQueue,
    send: async (_: string, sent: readonly Message[]) => (messages.push(...sent), { failed: [] }),
  };
  await createClient(portsWith(store, queue)).enqueue(definitionOf(daily), [{ payload: undefined, key }]);
  const [message] = messages;
  if (message === undefined) throw new Error("the fan-out's own job was not handed off");
  return message;
}

interface Filled {
  readonly store: Store;
  readonly pool: Pool;
}

/** The heap is read after a collection, at every tenth page: what is kept counts, not what waits to be collected. */
async function materialize({ store, pool }: Filled, message: Message, heap: number[]): Promise<void> {
  let pages = 0;
  const ports: Ports = {
    ...portsWith(store),
    async crashPoint(point) {
      if (point !== "fanout.afterPage") return;
      pages += 1;
      if (pages === 10 || pages === targets / perCall) heap.push(heapBytes());
    },
  };
  const known = registry([defineApp({ name: "bench", jobs: [daily, push] })]);
  const worker = createWorker(ports, known, { worker: "bench", lane, stage: "bench" });
  const { failed } = await worker.handle(recordsOf([message]), { remainingMs: () => 600_000 });
  const { rows } = await pool.query<{ total: number; sealed: boolean }>(
    "select total, sealed from belfry.run_progress where kind = 'daily' order by id desc limit 1",
  );
  const [run] = rows;
  if (failed.length > 0 || run?.total !== targets || !run.sealed)
    throw new Error(`${run?.total ?? 0} targets were written`);
}

async function insertAll(store: Store): Promise<void> {
  for (let from = 0; from < targets; from += perCall) {
    await store.insert(newJobs(perCall, `direct-${from}`));
  }
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
