import { Pool } from "pg";
import { openTracing } from "../outside/tracing.ts";
import { createClock, systemRandom } from "../outside/clock.ts";
import { openConnections } from "../postgres/connect.ts";
import { createDatabase } from "../postgres/database.ts";
import { createPostgresStore } from "../postgres/store.ts";
import type { JobPage } from "../insight/due-jobs.ts";
import { findJobs } from "../insight/find-jobs.ts";
import { readRecords } from "../insight/job.ts";
import { writeKinds } from "../insight/kinds.ts";
import { readOccurrences } from "../insight/occurrences.ts";
import { readRun } from "../insight/runs.ts";
import type { Database } from "../insight/sql-query.ts";
import { installTestClock, type TestClock } from "../postgres/test-clock.ts";
import { type Duration, durationMs } from "../calendar/duration.ts";
import { checkApps } from "../define/check.ts";
import type { Job } from "../define/context.ts";
import type { AppDefinition, Registry } from "../define/definition.ts";
import { DefinitionProblems } from "../define/problem.ts";
import { createClient } from "../run/enqueue.ts";
import { signalRun } from "../run/signal-run.ts";
import { bindCosts } from "../insight/own-costs.ts";
import { bindClient, type EnqueueClient } from "../machine/client.ts";
import type { JobId, JobView, Json, RunId } from "../machine/job.ts";
import type { Ports } from "../machine/ports.ts";
import type { Store } from "../machine/store.ts";
import type { DatabasePool } from "../machine/transaction.ts";
import type { RunState } from "../machine/run.ts";
import type { OccurrenceView } from "../machine/schedule.ts";
import { installDefinitions } from "../schedule/install-schedules.ts";
import { newDriver, type Ran } from "./driver.ts";
import { type CrashAt, Faults } from "./faults.ts";
import { createMemoryLockStore } from "./memory-lock-store.ts";
import { createMemoryQueue } from "./memory-queue.ts";
import { type LogLine, type Metric, recordingLog, recordingMetrics } from "./recording.ts";
import { openedBy, type OpenedBy, ownSeals } from "./own-seals.ts";
import { testDatabase } from "./server.ts";
import { instantOf } from "./times-of.ts";

/** @beta */
export interface TestSystemOptions {
  readonly apps: readonly AppDefinition[];
  /** Where the clock stands at first, like `2031-01-01T08:00:00Z`. Default: now. It moves by `advance` alone. */
  readonly at?: string;
  /** Whose values per stage count. Default `test`. */
  readonly stage?: string;
  /** By name: what `ctx.secret` answers. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Of a Postgres for tests, as a user that may create databases. Default: one of this process. */
  readonly databaseUrl?: string;
  /** Batches of up to 50 jobs that one `advance` or `drain` runs before it throws. Default 10,000. */
  readonly batchesMax?: number;
}

/** @beta */
export interface EnqueuedJob<I> {
  readonly id: JobId;
  readonly payload: I;
  readonly dueAt: Date;
  readonly key: string | null;
}

/** A run as `GET /runs/:id` shows it. @beta */
export interface RunView {
  readonly id: string;
  readonly kind: string;
  readonly key: string;
  readonly state: RunState;
  readonly input: unknown;
  /** Counts of its jobs. `done`: they have ended, in whatever way. */
  readonly progress: Readonly<Record<"total" | "done" | "ok" | "failed" | "skipped" | "canceled", number>>;
}

/** Belfry's real core on a real Postgres; time, messages and locks are in the test's hand. @beta */
export interface TestSystem extends AsyncDisposable {
  /** With the tables of the apps. */
  readonly database: DatabasePool;
  readonly databaseUrl: string;
  readonly logs: readonly LogLine[];
  readonly metrics: readonly Metric[];
  now(): Promise<Date>;
  /** Goes from one due time to the next: schedules fire, due jobs run, and so does what they enqueue. */
  advance(by: Duration | { readonly to: string }): Promise<readonly Ran[]>;
  /** Runs all that is due now, and what that enqueues. */
  drain(): Promise<readonly Ran[]>;
  /** Jobs of this kind that wait to run, the oldest first. */
  enqueued<I>(job: Job<I>): Promise<readonly EnqueuedJob<I>[]>;
  job(id: JobId): Promise<JobView | null>;
  run(id: RunId): Promise<RunView | null>;
  /** Sends the signal that a task of the run waits for. @throws InvalidPayload; Error where nothing waits for it. */
  signal(run: RunId, name: string, payload?: unknown): Promise<void>;
  occurrences(schedule: { readonly id: string }): Promise<readonly OccurrenceView[]>;
  /** The next attempts of this job throw this instead of running. */
  fail<I>(job: Job<I>, error: Error, times?: number): void;
  /** The next worker that gets there dies, as by kill -9. Its job runs again when its lease is over. */
  crash(at: CrashAt): void;
}

/** What a look-up shows at most. */
const rowsMax = 100_000;
let isOpen = false;

/**
 * A fresh system: the first of a process takes about two seconds, each later one 0.1 s. `job.enqueue()` works in this
 * process until it is disposed; only one can be open in a process. @throws DefinitionProblems for definitions that `check` refuses.
 * @beta
 */
export async function createTestSystem(options: TestSystemOptions): Promise<TestSystem> {
  const { apps, stage = "test" } = options;
  const problems = checkApps(apps, stage);
  if (problems.length > 0) throw new DefinitionProblems(problems);
  const { batchesMax = 1 } = options;
  if (!Number.isInteger(batchesMax) || batchesMax < 1)
    throw new RangeError(`batchesMax is ${batchesMax}; it must be a whole number from 1`);
  if (isOpen) throw new Error("a test system is open in this process: dispose it first (await using system = ...)");
  isOpen = true;
  try {
    return await open(options, stage);
  } catch (error) {
    isOpen = false;
    throw error;
  }
}

async function open(options: TestSystemOptions, stage: string): Promise<TestSystem> {
  const { apps, at, secrets, databaseUrl, batchesMax = 10_000 } = options;
  const made = await testDatabase(apps, databaseUrl);
  const database = new Pool({ connectionString: made.url, max: 4 });
  database.on("error", () => {});
  const connections = openConnections({
    url: made.url,
    applicationName: "belfry test",
    connections: 4,
    txConnections: 4,
  });
  // What is due is handed to its queue at once, and nothing earlier: messages never wait for a clock that stands.
  const dispatched = { dispatchWindowMs: 0 };
  const store = createPostgresStore(connections, dispatched);
  const clock = await frozenClock(database, store, at);
  const logs: LogLine[] = [];
  const metrics: Metric[] = [];
  const elapsed = { ms: 0 };
  const tracing = await openTracing();
  const queue = createMemoryQueue({ elapsedMs: () => elapsed.ms });
  const ports: Ports = {
    store,
    queue,
    locks: createMemoryLockStore(),
    clock: { ...createClock(), elapsedMs: () => performance.now() + elapsed.ms },
    random: systemRandom,
    log: recordingLog(logs),
    metrics: recordingMetrics(metrics),
    secret: (name) => secrets?.[name],
    seals: ownSeals(),
    ...(tracing === null ? {} : { tracing }),
  };
  const faults = new Faults();
  const insight = createDatabase(connections, dispatched);
  const driver = newDriver({ ports, insight, queue, apps, stage, faults, clock, elapsed, batchesMax });
  await insight.run(writeKinds, driver.registry);
  await installDefinitions(ports, driver.registry, { stage });
  bindClient(knowing(driver.registry, createClient(ports)));
  bindCosts(
    { insight, store },
    { stage, lanes: [{ name: "default", memoryMb: 512 }], jobs: driver.registry.jobs.values(), databaseUsd: null },
  );
  const { AWS_REGION: region = "us-east-1" } = process.env;
  const restore = withEnvironment({ DATABASE_URL: made.url, AWS_REGION: region });
  return {
    database,
    databaseUrl: made.url,
    logs,
    metrics,
    now: async () => new Date(await store.now()),
    advance: async (by) => await driver.advance(await targetOf(store, by)),
    drain: () => driver.drain(),
    ...lookups({ store, insight }, openedBy(ports.seals, driver.registry)),
    signal: signaler({ ports, insight }, driver.registry),
    fail: (job, error, times = 1) => faults.fail(job.id, error, times),
    crash: (where) => faults.crash(where),
    async [Symbol.asyncDispose]() {
      bindClient(null);
      restore();
      isOpen = false;
      await driver.stop();
      await connections.close();
      await database.end();
      await made.drop();
    },
  };
}

const signaler =
  ({ ports, insight }: { ports: Ports; insight: Database }, registry: Registry): TestSystem["signal"] =>
  async (id, name, payload) => {
    const [run] = await insight.run(readRun, id);
    if (run === undefined) throw new Error(`there is no run ${id}`);
    const { kind } = run;
    const { is } = await signalRun(ports, registry, { id, kind }, { name, payload, caller: "test" });
    if (is !== "taken" && is !== "repeated") throw new Error(`run ${id} does not take the signal "${name}": ${is}`);
  };

/** In a deployment another process may know a job; here it would wait for ever. */
const knowing = ({ jobs }: Registry, client: EnqueueClient): EnqueueClient => ({
  async enqueue(job, ...rest) {
    if (!jobs.has(job.id)) throw new Error(`job "${job.id}" is in no app of this test system: add it to \`apps\``);
    return await client.enqueue(job, ...rest);
  },
});

/** As a worker has it, so that `databasePool` of a handler leads to this database. @returns what puts back the values before. */
function withEnvironment(values: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, values);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}

function lookups(
  { store, insight }: { readonly store: Store; readonly insight: Database },
  opened: OpenedBy,
): Pick<TestSystem, "enqueued" | "job" | "run" | "occurrences"> {
  return {
    async enqueued<I>(job: Job<I>) {
      const search = { kind: job.id, states: ["PENDING", "QUEUED", "RETRY_WAIT"] as const };
      const found: string[] = [];
      let cursor: string | null = null;
      do {
        const page: JobPage = await findJobs(insight, { search, sort: "oldest", cursor, limit: rowsMax });
        found.push(...page.jobs.map(({ id }) => id));
        ({ cursor } = page);
      } while (cursor !== null && found.length < rowsMax);
      const rows = await insight.run(readRecords, { ids: found, whole: true });
      const jobs = rows.toReversed().map(async ({ id, payload, dueAt, key }) => ({
        id: id as JobId,
        payload: (await opened(job.id, payload as Json)) as I,
        dueAt: new Date(dueAt),
        key,
      }));
      return await Promise.all(jobs);
    },
    async job(id) {
      const view = await store.job(id);
      if (view === null) return null;
      const { kind, payload, result } = view;
      return { ...view, payload: await opened(kind, payload), result: await opened(kind, result) };
    },
    async run(id) {
      const [view] = await insight.run(readRun, id);
      return view === undefined ? null : { ...view, input: await opened(view.kind, view.input as Json) };
    },
    occurrences: ({ id }) => insight.run(readOccurrences, { id, limit: rowsMax }),
  };
}

async function frozenClock(database: Pool, store: Store, at: string | undefined): Promise<TestClock> {
  const clock = await installTestClock(database, { thisIsATestDatabase: true });
  await clock.set(0);
  if (at !== undefined) await clock.advance(instantOf("at", at) - (await store.now()));
  return clock;
}

async function targetOf(store: Store, by: Duration | { readonly to: string }): Promise<number> {
  const now = await store.now();
  const target = typeof by === "string" ? now + durationMs("advance", by) : instantOf("to", by.to);
  if (target >= now) return target;
  throw new RangeError(
    `advance to ${new Date(target).toISOString()} would go back: it is ${new Date(now).toISOString()}`,
  );
}
