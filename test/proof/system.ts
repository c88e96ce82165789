import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Pool } from "pg";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { dynamodbClient } from "../../src/aws/lock-store.ts";
import { queueAttributes } from "../../src/aws/queue.ts";
import { type SqsClient, sqsClient } from "../../src/aws/sqs-client.ts";
import { project } from "../support/own-project.ts";
import { readConfig } from "../../src/stage/config.ts";
import type { Enqueued, EnqueueItem } from "../../src/machine/client.ts";
import { installRelease } from "../../src/compose/install-release.ts";
import { startDynamodb } from "../../src/local/services/dynamodb.ts";
import { compressTime } from "../../src/local/setup/compressed-time.ts";
import { createResources, type LaneQueues } from "../../src/local/setup/resources.ts";
import { startSqs } from "../../src/local/services/sqs.ts";
import { openRuntime, type Runtime } from "../../src/compose/runtime.ts";
import type { LaneTopology, Topology } from "../../src/stage/topology.ts";
import type { Enqueue } from "../invariants/evidence.ts";
import { prepareDatabase, type Queries, queriesOf } from "./database.ts";
import { type Fleet, type FleetOptions, startFleet } from "./fleet.ts";
import { markOf } from "./judge.ts";
import { type Ledger, startLedger } from "./ledger.ts";
import { Processes } from "./process-log.ts";
import type { ProofContext } from "./proof.ts";
import { type Proxy, startProxy } from "./proxy.ts";
import { type SchedulerProcess, startSchedulerProcess, startWakes, type Wakes } from "./scheduler-process.ts";

export interface SystemOptions {
  /** A file in `test/proof/app` that exports the definitions. */
  readonly app: string;
  /** Changes what the topology says of a lane, for example a shorter visibility timeout. */
  readonly lane?: (lane: LaneTopology) => Partial<LaneTopology>;
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds of the database and of every process per second of the machine. */
  readonly scale?: number;
  /** Run in the new database after the migrations. */
  readonly sql?: string;
  /** Puts a proxy in front of a service; processes get the proxy's address. */
  readonly proxied?: readonly ("sqs" | "dynamodb")[];
  /** Puts something else in front of SQS; processes get its address, `System.sqs` goes past it. */
  readonly inFrontOfSqs?: (target: string) => Promise<{ readonly url: string; stop(): Promise<void> }>;
  /** The port of Postgres for everything but `System.pool`, for example that of a wire that can be cut. */
  readonly postgresPort?: number;
  /** Ends what the case started beside it: after the system itself, also when the case is interrupted. */
  readonly endBeside?: () => Promise<void>;
}

type Ground = Pick<ProofContext, "folder" | "postgresUrl">;

/** Everything one proof runs on: real parts, a fresh database, and no process yet. */
export interface System extends Queries {
  readonly databaseUrl: string;
  /** What every process of it has in its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly runtime: Runtime;
  readonly pool: Pool;
  readonly sqs: SqsClient;
  /** Past the proxy. */
  readonly dynamodb: DynamoDBClient;
  readonly topology: Topology;
  readonly queues: readonly LaneQueues[];
  readonly ledger: Ledger;
  readonly processes: Processes;
  readonly proxies: { readonly sqs?: Proxy; readonly dynamodb?: Proxy };
  /** Every enqueue there was, with its answer. */
  readonly asked: Enqueue[];
  /** Options for the processes of this system, with those that every one of them needs. */
  nodeOptions(more: string): string;
  depth(url: string): Promise<{ visible: number; inFlight: number }>;
  enqueue(kind: string, items: readonly EnqueueItem[]): Promise<readonly Enqueued[]>;
  /** Writes the schedules and slot groups of the app, as a deploy does. */
  install(): Promise<void>;
  fleet(options?: FleetOptions): Fleet;
  /** Workers, and scheduler tasks as of `wakes`. */
  work(options?: WorkOptions): Work;
  scheduler(env?: Readonly<Record<string, string>>, name?: string): SchedulerProcess;
  /** Starts a scheduler task at once, and the next one whenever one has ended and `everyMs` have passed since. */
  wakes(options: { everyMs: number; env?: Readonly<Record<string, string>> }): Wakes;
  /** The same for tasks that the caller starts. */
  wakesOf(start: () => SchedulerProcess, everyMs: number): Wakes;
  /** Aborts when the system begins to stop. */
  readonly over: AbortSignal;
  stop(): Promise<void>;
}

interface WorkOptions extends FleetOptions {
  /** 0 when left out: the next scheduler task begins when one has ended. */
  readonly everyMs?: number;
}

export interface Work {
  readonly fleet: Fleet;
  /** The scheduler first, so that nothing is sent to workers that are gone. */
  stop(): Promise<void>;
}

const running = new Set<() => Promise<void>>();

/** Ends what a case left behind that did not come to its own end. */
export async function stopSystems(): Promise<void> {
  await Promise.all([...running].map((stop) => stop()));
}

/** In the context's folder: ledger, logs and process records. In its Postgres server: a database of its own. */
export async function startSystem(context: Ground, options: SystemOptions): Promise<System> {
  const folder = join(context.folder, "system");
  mkdirSync(folder, { recursive: true });
  const closing: (() => Promise<void>)[] = options.endBeside === undefined ? [] : [options.endBeside];
  const close = async (): Promise<void> => {
    running.delete(close);
    for (const step of closing.splice(0).toReversed()) await step();
  };
  running.add(close);
  try {
    return await build({ folder, postgresUrl: context.postgresUrl }, options, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

/** The same, with its definitions installed. */
export async function startInstalled(context: Ground, options: SystemOptions): Promise<System> {
  const system = await startSystem(context, options);
  await system.install();
  return system;
}

async function build(
  { folder, postgresUrl }: Ground,
  options: SystemOptions,
  closing: (() => Promise<void>)[],
  close: () => Promise<void>,
): Promise<System> {
  const opened = <T>(part: T, end: (part: T) => Promise<void>): T => {
    closing.push(() => end(part));
    return part;
  };
  const databaseUrl = await prepareDatabase(postgresUrl, options.sql ?? "");
  if (options.scale !== undefined) await compressTime(databaseUrl, { scale: options.scale, startsAt: null });
  const ledger = opened(await startLedger(join(folder, "ledger.jsonl")), (part) => part.stop());
  const sqsServer = opened(await startSqs(), (part) => part.stop());
  const dynamodbServer = opened(await startDynamodb({ folder: null }), (part) => part.stop());
  const proxies = {
    ...(options.proxied?.includes("sqs")
      ? { sqs: opened(await startProxy(sqsServer.url), (part) => part.stop()) }
      : {}),
    ...(options.proxied?.includes("dynamodb")
      ? { dynamodb: opened(await startProxy(dynamodbServer.url), (part) => part.stop()) }
      : {}),
  };
  const front = options.inFrontOfSqs === undefined ? null : await options.inFrontOfSqs(sqsServer.url);
  if (front !== null) opened(front, (part) => part.stop());
  const env = environment(options, {
    DATABASE_URL: withPort(databaseUrl, options.postgresPort),
    AWS_ENDPOINT_URL_SQS: front?.url ?? proxies.sqs?.url ?? sqsServer.url,
    AWS_ENDPOINT_URL_DYNAMODB: proxies.dynamodb?.url ?? dynamodbServer.url,
    BELFRY_PROOF_LEDGER: ledger.url,
  });
  const config = readConfig({ ...env, BELFRY_LOG_LEVEL: "error" }, project);
  const runtime = opened(await openRuntime(config, { role: "setup" }), (part) => part.close());
  const aws = { ...config.aws, sqsEndpoint: sqsServer.url, dynamodbEndpoint: dynamodbServer.url };
  const clients = { sqs: sqsClient(aws), dynamodb: dynamodbClient(aws) };
  const topology = withLanes(runtime.topology, options.lane);
  const queues = await createResources(clients, topology, { timeScale: config.timeScale });
  const pool = opened(new Pool({ connectionString: databaseUrl, max: 4 }), (part) => part.end());
  pool.on("error", () => {});
  const asked: Enqueue[] = [];
  const processes = opened(new Processes(folder), endAll);
  const scheduler: System["scheduler"] = (more = {}, name) =>
    startSchedulerProcess(processes, { ...env, ...more }, name);
  const wakesOf: System["wakesOf"] = (start, everyMs) => opened(startWakes(start, everyMs), (part) => part.stop());
  const fleet: System["fleet"] = (fleetOptions = {}) =>
    opened(startFleet({ processes, sqs: clients.sqs, queues, env }, fleetOptions), (part) => part.stop(500));
  const over = new AbortController();
  closing.push(async () => over.abort());
  return {
    over: over.signal,
    databaseUrl,
    env,
    runtime,
    pool,
    ...clients,
    topology,
    queues,
    ledger,
    processes,
    proxies,
    asked,
    nodeOptions: (more) => `${preload} ${more}`,
    ...queriesOf(pool),
    depth: (url) => depthOf(clients.sqs, url),
    enqueue: (kind, items) => enqueue(runtime, asked, kind, items),
    install: async () => {
      await installRelease(runtime, { stage: config.stage.name });
    },
    fleet,
    work({ everyMs = 0, ...fleetOptions } = {}) {
      const workers = fleet(fleetOptions);
      const wakes = wakesOf(() => scheduler(), everyMs);
      return { fleet: workers, stop: () => wakes.stop().then(() => workers.stop()) };
    },
    scheduler,
    wakes: ({ everyMs, env: more }) => wakesOf(() => scheduler(more), everyMs),
    wakesOf,
    stop: close,
  };
}

function withPort(address: string, port: number | undefined): string {
  const url = new URL(address);
  if (port !== undefined) url.port = String(port);
  return url.href;
}

/** A stopped process hears nothing but SIGKILL until it goes on. */
async function endAll(processes: Processes): Promise<void> {
  for (const { pid } of processes.running()) {
    try {
      process.kill(pid, "SIGCONT");
    } catch {
      // It has just ended by itself.
    }
  }
  await processes.stopAll(3_000);
}

function environment(options: SystemOptions, parts: Record<string, string>): Record<string, string> {
  const { PATH = "", HOME = "", TZ = "UTC" } = process.env;
  // What `--defaults` and `--without` ask of the definitions and of the processes.
  const asked = Object.entries(process.env).filter(([name]) => name.startsWith("BELFRY_PROOF_")) as [string, string][];
  const app = new URL(`./app/${options.app}.ts`, import.meta.url).href;
  return {
    PATH,
    HOME,
    TZ,
    NODE_OPTIONS: preload,
    // Cases have up to a dozen lanes, which need the connections of a larger stage.
    BELFRY_STAGE: "demo",
    BELFRY_APPS: app,
    ...Object.fromEntries(asked),
    ...parts,
    ...(options.scale === undefined ? {} : { BELFRY_TIME_SCALE: String(options.scale) }),
    ...options.env,
  };
}

/** What every process of a proof loads first. */
export const preload = `--import=${new URL("./preload.ts", import.meta.url).href}`;

const withLanes = (topology: Topology, change: SystemOptions["lane"]): Topology => ({
  ...topology,
  lanes: topology.lanes.map((lane) => ({ ...lane, ...change?.(lane) })),
});

async function enqueue(
  runtime: Runtime,
  asked: Enqueue[],
  kind: string,
  items: readonly EnqueueItem[],
): Promise<readonly Enqueued[]> {
  const definition = runtime.registry.jobs.get(kind);
  if (definition === undefined) throw new Error(`the app of this proof has no job "${kind}"`);
  const answers = await runtime.client.enqueue(definition, items);
  answers.forEach(({ id, created }, index) => {
    const { payload, key = null } = items[index] ?? { payload: null };
    const mark = markOf({ kind, payload, scheduleId: null, key: null }) ?? "";
    asked.push({ mark, kind, key, answer: { id, created } });
  });
  return answers;
}

async function depthOf(client: SqsClient, url: string): Promise<{ visible: number; inFlight: number }> {
  const names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;
  const counts = await queueAttributes(client, url, names);
  return {
    visible: Number(counts.ApproximateNumberOfMessages ?? 0),
    inFlight: Number(counts.ApproximateNumberOfMessagesNotVisible ?? 0),
  };
}
