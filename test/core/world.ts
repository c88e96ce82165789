import { type AppDefinition, type Registry, registry as registryOf } from "../../src/define/definition.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { definitionOf } from "../../src/define/define-job.ts";
import type { Job } from "../../src/define/context.ts";
import { createClient, type Client } from "../../src/run/enqueue.ts";
import { installDefinitions } from "../../src/schedule/install-schedules.ts";
import type { JobId } from "../../src/machine/job.ts";
import type { LockStore, Ports, Queue, Random } from "../../src/machine/ports.ts";
import type { Store } from "../../src/machine/store.ts";
import type { QueueRecord } from "../../src/run/message.ts";
import { createWorker, type Worker } from "../../src/run/worker.ts";
import { createMemoryLockStore, type MemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { createMemoryQueue, type MemoryQueue } from "../../src/testing/memory-queue.ts";
import { type LogLine, type Metric, recordingLog, recordingMetrics } from "../../src/testing/recording.ts";
import { referenceStore, type ReferenceStore } from "../support/reference-store.ts";
import { settableClock, type SettableClock } from "./settable-clock.ts";

/** Every port in memory, and what a test wants to look at afterwards. */
export interface World extends Ports {
  readonly store: ReferenceStore;
  readonly queue: MemoryQueue;
  readonly locks: MemoryLockStore;
  readonly clock: SettableClock;
  readonly lines: LogLine[];
  readonly measured: Metric[];
  /** Names of crash points in the order they were passed. */
  readonly passed: string[];
}

const epochMs = Date.UTC(2031, 4, 6, 7, 8, 9);

/** `over` replaces ports, for faults: pass a function of the world to wrap what is there. */
export function world(over: (base: World) => Partial<Ports> = () => ({})): World {
  const clock = settableClock();
  const lines: LogLine[] = [];
  const measured: Metric[] = [];
  const passed: string[] = [];
  const base: World = {
    store: referenceStore(() => epochMs + clock.elapsedMs()),
    queue: createMemoryQueue({ elapsedMs: clock.elapsedMs }),
    locks: createMemoryLockStore(),
    clock,
    random: countingRandom(),
    log: recordingLog(lines),
    metrics: recordingMetrics(measured),
    crashPoint: async (name) => void passed.push(name),
    lines,
    measured,
    passed,
  };
  return { ...base, ...over(base) } as World;
}

/** A port that does not answer. */
export const down = (): Promise<never> => Promise.reject(new Error("down"));

/** A world whose store has some calls replaced; `faults` gets the store as it is. */
export const withStore = (faults: (store: Store) => Partial<Store>): World =>
  world(({ store }) => ({ store: Object.assign({}, store, faults(store)) }));

export const withQueue = (faults: (queue: Queue) => Partial<Queue>): World =>
  world(({ queue }) => ({ queue: Object.assign({}, queue, faults(queue)) }));

export const withLocks = (faults: (locks: LockStore) => Partial<LockStore>): World =>
  world(({ locks }) => ({ locks: Object.assign({}, locks, faults(locks)) }));

/** Ids that tell them apart, and a chance in the middle. */
function countingRandom(): Random {
  let last = 0;
  return { next: () => 0.5, id: () => `id-${++last}` };
}

/** The sum of a metric, over all dimensions or for one job. */
export const sum = (measured: readonly Metric[], name: string, job?: string): number =>
  measured
    .filter((metric) => metric.name === name && (job === undefined || metric.dimensions["job"] === job))
    .reduce((total, metric) => total + metric.value, 0);

export const appOf = (...jobs: readonly Job<never>[]): AppDefinition => defineApp({ name: "test", jobs });

export const registryFor = (...jobs: readonly Job<never>[]): Registry => registryOf([appOf(...jobs)]);

export interface Shop {
  readonly world: World;
  readonly registry: Registry;
  readonly worker: Worker;
  readonly client: Client;
  /** Another worker of the same lane. */
  another(name: string): Worker;
  enqueue<I>(job: Job<I>, payload: I, options?: { key?: string; delayMs?: number }): Promise<JobId>;
  /** What a consumer of the lane's queue would receive now. */
  receive(max?: number): readonly QueueRecord[];
  /** One batch of everything that can be received, acknowledged as the worker says. @returns what was given back. */
  work(options?: { max?: number; remainingMs?: () => number }): Promise<readonly string[]>;
}

export const lane = "default";
const plenty = (): number => 600_000;

/** A world with definitions installed and one worker. */
export async function shop(jobs: readonly Job<never>[], ports: World = world()): Promise<Shop> {
  const registry = registryFor(...jobs);
  await installDefinitions(ports, registry, { stage: "test" });
  const client = createClient(ports);
  const another = (worker: string): Worker => createWorker(ports, registry, { stage: "test", worker, lane });
  const worker = another("worker-1");
  const receive = (max = 10): readonly QueueRecord[] => ports.queue.receive(lane, max);
  return {
    world: ports,
    registry,
    worker,
    client,
    another,
    receive,
    async enqueue(job, payload, how = {}) {
      const [enqueued] = await client.enqueue(definitionOf(job), [{ payload, ...how }]);
      if (enqueued === undefined) throw new Error("enqueue gave no answer");
      return enqueued.id;
    },
    async work({ max = 10, remainingMs = plenty } = {}) {
      const records = receive(max);
      const { failed } = await worker.handle(records, { remainingMs });
      acknowledge(ports, records, failed);
      return failed;
    },
  };
}

export function acknowledge(ports: World, records: readonly QueueRecord[], failed: readonly string[]): void {
  const done = records.map((record) => record.messageId).filter((id) => !failed.includes(id));
  ports.queue.delete(lane, done);
  ports.queue.giveBack(lane, failed);
}

/** The row of a job, as the API shows it. */
export async function jobOf(ports: Pick<Ports, "store">, id: JobId) {
  const job = await ports.store.job(id);
  if (job === null) throw new Error(`job ${id} does not exist`);
  return job;
}

/** `FROM>TO` of every event; an insert reads `>TO`. */
export async function movesOf(ports: Pick<World, "store">, id: JobId): Promise<readonly string[]> {
  const events = ports.store.tables.events.rows.filter((event) => String(event.jobId) === id);
  return events.map((event) => `${event.from ?? ""}>${event.to}`);
}

/** A promise and the functions that end it: a handler waits on it until the test lets it go. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { promise, open: resolve };
}
