/** One cell's clients and workers: enqueues jobs ten at a time and works them off, on a database of its own. */
import { createPostgresStore, openConnections } from "../../src/adapters/postgres/index.ts";
import { createClient } from "../../src/core/delivery/enqueue.ts";
import type { Message } from "../../src/core/ports/ports.ts";
import { batch } from "../cost/model.ts";
import { storeName } from "../ground.ts";
import { noOp, noQueue, portsWith, recordsOf, workerOf } from "../ports.ts";

export interface Ask {
  readonly ms: number;
  /** How many work at once. */
  readonly loops: number;
}

export interface Done {
  readonly jobs: number;
  readonly tookMs: number;
  readonly nodeUs: number;
}

const [url = ""] = process.argv.slice(2);
const loopsMax = 8;
const connections = openConnections({ url, applicationName: storeName, connections: loopsMax });
const store = createPostgresStore(connections);
const definition = noOp();
const items = Array.from({ length: batch }, () => ({ payload: undefined }));

async function loop(name: string, until: number): Promise<number> {
  const waiting: Message[] = [];
  const queue = {
    ...noQueue,
    async send(_: string, messages: readonly Message[]) {
      waiting.push(...messages);
      return { failed: [] };
    },
  };
  const client = createClient(portsWith(store, queue), { stage: "bench" });
  const worker = workerOf(store, definition, name);
  let jobs = 0;
  while (performance.now() < until) {
    await client.enqueue(definition, items);
    jobs += waiting.length;
    await worker.handle(recordsOf(waiting.splice(0)), { remainingMs: () => 600_000 });
  }
  return jobs;
}

async function work({ ms, loops }: Ask): Promise<void> {
  const startedMs = performance.now();
  const before = process.cpuUsage();
  const jobs = await Promise.all(Array.from({ length: loops }, (_, n) => loop(`w${n}`, startedMs + ms)));
  const { user, system } = process.cpuUsage(before);
  process.send?.({
    jobs: jobs.reduce((sum, own) => sum + own, 0),
    tookMs: performance.now() - startedMs,
    nodeUs: user + system,
  } satisfies Done);
}

process.on("message", (ask: Ask) => void work(ask));
process.on("disconnect", () => void connections.close().then(() => process.exit()));
process.send?.("ready");
