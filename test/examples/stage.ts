import { atOnce } from "../support/rescue-at-once.ts";
/** An example's app on a database of its own, driven by hand: real tables, a queue in memory, clocks that the test moves. */
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { onTestFinished, vi } from "vitest";
import { type AppDefinition, registry as registryOf, type Registry } from "../../src/core/define/definition.ts";
import { type Client, createClient } from "../../src/core/delivery/enqueue.ts";
import type { JobId, Json } from "../../src/core/job/job.ts";
import { passLimits } from "../../src/core/scheduler/pass-limits.ts";
import { pass } from "../../src/core/scheduler/pass.ts";
import { rescue } from "../../src/core/delivery/rescue.ts";
import { installDefinitions } from "../../src/core/scheduler/install-schedules.ts";
import type { QueueRecord } from "../../src/core/delivery/message.ts";
import { createWorker, type Worker } from "../../src/core/work/worker.ts";
import { type World, world } from "../core/world.ts";
import { freshDatabase, type TestDatabase } from "../support/database.ts";

export interface ExampleStage {
  readonly world: World;
  readonly db: TestDatabase;
  readonly registry: Registry;
  readonly worker: Worker;
  another(name: string): Worker;
  enqueue(kind: string, payload: Json, key?: string): Promise<JobId>;
  receive(): readonly QueueRecord[];
  /** One batch, acknowledged as the worker says. @returns the messages that were given back. */
  work(records?: readonly QueueRecord[], by?: Worker): Promise<readonly string[]>;
  /** Batches until nothing can be received. */
  drain(): Promise<void>;
  pass(): Promise<void>;
  rescue(): Promise<void>;
  /** Both clocks. */
  advance(ms: number): Promise<void>;
  state(id: JobId): Promise<string>;
}

let stages = 0;

const plenty = { remainingMs: () => 600_000 };

export interface StageOptions {
  readonly lane: string;
  /** `HH:MM` in UTC: the clock is moved to the next such instant before the schedules are installed. */
  readonly at?: string;
  readonly crashPoint?: (name: string) => Promise<void>;
}

export async function stageOf(
  app: AppDefinition,
  { lane, at, crashPoint = async () => {} }: StageOptions,
): Promise<ExampleStage> {
  const db = await freshDatabase({ own: true });
  onTestFinished(() => db.close());
  // As a worker has it.
  vi.stubEnv("DATABASE_URL", db.url);
  vi.stubEnv("AWS_REGION", "us-east-1");
  onTestFinished(() => void vi.unstubAllEnvs());
  if (at !== undefined) await moveTo(db, at);
  for (const file of globSync(`${fileURLToPath(app.migrations ?? "")}*.sql`).toSorted())
    await db.pool.query(readFileSync(file, "utf8"));
  // Idempotency keys are made of job ids, and one fake may serve several databases.
  await db.pool.query(`alter table belfry.job alter id restart with ${++stages * 10_000}`);
  const ports = world(() => ({ store: db.store, crashPoint }));
  const registry = registryOf([app]);
  await installDefinitions(ports, registry, { stage: "demo" });
  const options = { stage: "demo" };
  const another = (name: string): Worker => createWorker(ports, registry, { ...options, worker: name, lane });
  const client = createClient(ports, options);
  const worker = another("worker-1");
  const receive = (): readonly QueueRecord[] => ports.queue.receive(lane, 10);
  const work: ExampleStage["work"] = async (records = receive(), by = worker) => {
    const { failed } = await by.handle(records, plenty);
    ports.queue.delete(
      lane,
      records.map(({ messageId }) => messageId).filter((id) => !failed.includes(id)),
    );
    return failed;
  };
  return {
    world: ports,
    db,
    registry,
    worker,
    another,
    enqueue: (kind, payload, key) => enqueue(client, registry, kind, { payload, key }),
    receive,
    work,
    async drain() {
      for (let records = receive(); records.length > 0; records = receive()) await work(records);
    },
    async pass() {
      await pass(ports, registry, { ...options, signal: AbortSignal.timeout(60_000) });
    },
    async rescue() {
      await rescue(ports, registry, {
        lapsed: atOnce,
        limit: passLimits.rescueRowsMax,
        rounds: 1,
      });
    },
    async advance(ms) {
      await db.clock.advance(ms);
      await ports.clock.advance(ms);
    },
    state: async (id) => (await db.store.job(id))?.job.state ?? "none",
  };
}

async function moveTo(db: TestDatabase, time: string): Promise<void> {
  const text = `select (86400 + extract(epoch from $1::time - (belfry.now() at time zone 'UTC')::time)::float8) as seconds`;
  const { rows } = await db.pool.query<{ seconds: number }>(text, [time]);
  await db.clock.advance(((rows[0]?.seconds ?? 0) % 86_400) * 1_000);
}

async function enqueue(
  client: Client,
  registry: Registry,
  kind: string,
  item: { payload: Json; key: string | undefined },
): Promise<JobId> {
  const definition = registry.jobs.get(kind);
  if (definition === undefined) throw new Error(`the example has no job "${kind}"`);
  const [enqueued] = await client.enqueue(definition, [item]);
  if (enqueued === undefined) throw new Error("enqueue gave no answer");
  return enqueued.id;
}
