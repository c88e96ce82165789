import { url as debuggerUrl } from "node:inspector";
import { createSqsQueue } from "../aws/queue.ts";
import { openSdk, type Sdk } from "../aws/sdk.ts";
import { openSeals } from "../aws/seals.ts";
import { type SqsClient, sqsClient } from "../aws/sqs-client.ts";
import { hourMs } from "../machine/units.ts";
import { createClock, systemRandom } from "../outside/clock.ts";
import { openTracing } from "../outside/tracing.ts";
import { createCrashPoint } from "../stage/crash-point.ts";
import { createArchiveSource } from "../postgres/archive-source.ts";
import { openConnections } from "../postgres/connect.ts";
import { createDatabase } from "../postgres/database.ts";
import { currentEpoch } from "../postgres/epoch.ts";
import { DatabaseUnavailable } from "../postgres/failure.ts";
import { assertSchema, assertServer, schemaVersion } from "../postgres/schema-version.ts";
import { createTally } from "../postgres/tally.ts";
import { createSession } from "../postgres/session.ts";
import { createPostgresStore } from "../postgres/store.ts";
import { createLog, hidingLog } from "../aws/telemetry/log.ts";
import { createMetrics } from "../aws/telemetry/metrics.ts";
import { type SensitiveKinds, sensitiveKinds } from "../api/sensitive.ts";
import { loadApps } from "./apps.ts";
import { databaseAccess } from "./database.ts";
import { bindCosts } from "../insight/own-costs.ts";
import type { Config } from "../stage/config.ts";
import { checkApps } from "../define/check.ts";
import { type AppDefinition, type Registry, registry as registryOf } from "../define/definition.ts";
import { checkScopes } from "../define/scope.ts";
import { type Client, createClient } from "../run/enqueue.ts";
import { bindClient } from "../machine/client.ts";
import { readMarks } from "../insight/secrecy.ts";
import type { Database } from "../insight/sql-query.ts";
import type { ArchiveSource } from "../insight/archive.ts";
import type { Log, Ports, Tally } from "../machine/ports.ts";
import { DefinitionProblems } from "../define/problem.ts";
import { stageNames } from "../stage/project.ts";
import { missingSettings } from "../stage/lane-settings.ts";
import { openSecrets, type Secrets } from "./secrets.ts";
import {
  checkTopology,
  defaultLane,
  type LaneTopology,
  topology as topologyOf,
  type Topology,
} from "../stage/topology.ts";

/** What a process is for. It decides how many connections it opens and what its logs call it. */
export type Role = "worker" | "task" | "dead-letter" | "ecs-events" | "scheduler" | "api" | "setup";

/** Everything a process needs to run verbs, made from real parts. */
export interface Runtime {
  readonly ports: Ports;
  /** What people read. */
  readonly insight: Database;
  readonly tally: Tally;
  readonly registry: Registry;
  readonly client: Client;
  readonly topology: Topology;
  readonly apps: readonly AppDefinition[];
  readonly secrets: Secrets;
  /** What waits for the archive. */
  readonly archiveSource: ArchiveSource;
  /** The number of the newest migration in the database; 0 when it has no tables of Belfry. */
  schemaVersion(): Promise<number>;
  /**
   * For the start of a process. `patient`: a database that is away is only logged, since messages wait for it.
   * @throws DatabaseUnfit when it would lose what it answered for, is read-only, too old, or at another schema version;
   * DatabaseUnavailable when it is away.
   */
  checkDatabase(options?: { readonly patient?: boolean }): Promise<void>;
  /** Ends the connections. Nothing may be used afterwards. */
  close(): Promise<void>;
}

/**
 * Loads the apps of the stage and connects their world. Nothing is opened before the first use.
 * @throws DefinitionProblems when a definition is wrong, with all problems together.
 */
export async function openRuntime(config: Config, options: { role: Role; lane?: string }): Promise<Runtime> {
  const apps = await appsOf(config);
  const topology = checkedTopology(apps, config);
  const registry = registryOf(apps);
  const secrets = await secretsOf(config, options, topology);
  const connections = openConnections(connectionsOf(config, options, topology));
  const sqs = sqsClient(config.aws);
  const sdk = openSdk(config.aws);
  const tally = createTally(createSession(connections.main, connections.where));
  const insight = createDatabase(connections, config);
  const marked = { kinds: sensitiveKinds(registry.jobs.values()) };
  const tracing = await openTracing();
  const ports: Ports = {
    tally,
    secret: (name) => secrets.get(name),
    seals: openSeals(config.seals, createClock()),
    ...(tracing === null ? {} : { tracing }),
    ...portsOf(config, options, { topology, registry, marked, connections, sqs, sdk }),
    // A task runs what it was started for: launching another one for it would never end.
    ...(config.tasks === null || options.role === "task" ? {} : { launcher: sdk.launcher(config.tasks) }),
    ...(options.role === "scheduler" ? { schedulerTasksSince: sdk.ownTasksSince(process.env) } : {}),
  };
  const client = createClient(ports);
  bindClient(client);
  const { databaseUsd, stage } = config;
  bindCosts(
    { insight, ...ports },
    { stage: stage.name, lanes: topology.lanes, jobs: apps.flatMap(({ jobs }) => jobs), databaseUsd },
  );
  return {
    ports,
    insight,
    tally,
    registry,
    client,
    topology,
    apps,
    secrets,
    archiveSource: createArchiveSource(connections),
    schemaVersion: () => schemaVersion(connections.main),
    async checkDatabase({ patient = false } = {}) {
      try {
        // Through the store first: it says which server it was that did not answer.
        await ports.store.now();
      } catch (error) {
        if (!patient || !(error instanceof DatabaseUnavailable)) throw error;
        return ports.log.error("the database is away at the start; messages are given back until it answers", {
          error,
        });
      }
      await assertServer(connections.main, {});
      await assertSchema(connections.main);
      await currentEpoch(createSession(connections.main, connections.where));
      marked.kinds = marked.kinds.with(await insight.run(readMarks, {}));
    },
    async close() {
      bindClient(null);
      ports.metrics.flush();
      sqs.destroy();
      sdk.destroy();
      await connections.close();
    },
  };
}

/** @throws DefinitionProblems with those of the definitions and of what is put together of them. */
function checkedTopology(apps: readonly AppDefinition[], { stage, project }: Config): Topology {
  const problems = [...checkApps(apps, stage.name, stageNames(project)), ...checkScopes(stage, apps)];
  try {
    const topology = topologyOf(apps, stage);
    problems.push(...checkTopology(topology));
    if (problems.length === 0) return topology;
  } catch (error) {
    // Definitions that are wrong by themselves may not fit together either; their own problems say why.
    if (problems.length === 0) throw error;
  }
  throw new DefinitionProblems(problems);
}

/** The stage's own apps, or those of the named modules, each with an array of apps as its default export. */
async function appsOf(config: Config): Promise<readonly AppDefinition[]> {
  if (config.appModules === null) return loadApps(config.project, config.stage);
  const modules = await Promise.all(
    config.appModules.map((url) => import(url) as Promise<{ default: readonly AppDefinition[] }>),
  );
  return modules.flatMap((module) => module.default);
}

/**
 * What handlers of the lane ask for is there before the first of them runs. Locally the stage's plain values come from the
 * code, as they come from the template in a deployment.
 * @throws DefinitionProblems naming everything that is missing.
 */
async function secretsOf(
  config: Config,
  { role, lane }: { role: Role; lane?: string },
  topology: Topology,
): Promise<Secrets> {
  const runsHandlers = role === "worker" || role === "task";
  const lanes = runsHandlers ? topology.lanes.filter(({ name }) => lane === undefined || name === lane) : [];
  for (const { environment } of lanes) {
    for (const [name, value] of Object.entries(environment)) process.env[name] ??= value;
  }
  const given = { ...process.env, ...config.secrets };
  const missing = missingSettings(config.stage.name, lanes.map(withoutReferences), given);
  if (missing.length > 0) throw new DefinitionProblems(missing);
  return openSecrets(config.secrets, { ...config, ...config.aws }, process.env);
}

/** What a stage says about its secrets reaches a process as `BELFRY_SECRETS`; a machine of a developer has the values. */
const withoutReferences = (lane: LaneTopology): LaneTopology => ({ ...lane, secrets: {} });

interface Opened {
  readonly topology: Topology;
  readonly registry: Registry;
  /** Those of earlier releases come when the database was checked. */
  readonly marked: { readonly kinds: SensitiveKinds };
  readonly connections: ReturnType<typeof openConnections>;
  readonly sqs: SqsClient;
  readonly sdk: Sdk;
}

function portsOf(config: Config, { role, lane }: { role: Role; lane?: string }, opened: Opened): Ports {
  const { topology, registry, marked, connections, sqs, sdk } = opened;
  const stage = config.stage.name;
  const names = Object.fromEntries(topology.lanes.map((each) => [each.name, each.queueName]));
  return {
    store: createPostgresStore(connections, config),
    queue: createSqsQueue({ client: sqs, names, urls: config.queueUrls, timeScale: config.timeScale }),
    locks: sdk.locks(config.lockTable ?? topology.lock.tableName),
    clock: createClock(config.timeScale),
    random: systemRandom,
    log: logOf(config, { role, lane }, marked),
    metrics: createMetrics({
      system: config.system,
      stage,
      laneOf: (job) => registry.jobs.get(job)?.lane ?? lane ?? defaultLane,
    }),
    ...(config.crashPlans.length === 0 ? {} : { crashPoint: createCrashPoint(config.crashPlans) }),
  };
}

function logOf(
  { logLevel: level, stage: { name: stage } }: Config,
  { role: service, lane }: { role: Role; lane?: string | undefined },
  marked: Opened["marked"],
): Log {
  const log = createLog({ service, level, fields: lane === undefined ? { stage } : { stage, lane } });
  return hidingLog(log, (kind) => marked.kinds.has(kind));
}

/** A worker keeps one connection for claim, heartbeat and settle, and the rest for its handlers' transactions. */
function connectionsOf(config: Config, { role, lane }: { role: Role; lane?: string }, topology: Topology) {
  const size = config.poolSize ?? sizeOf(role, topology);
  const runsHandlers = role === "worker" || role === "task";
  return {
    ...databaseAccess(config),
    applicationName: lane === undefined ? `belfry ${role}` : `belfry ${role} ${lane}`,
    connections: runsHandlers ? 1 : size,
    txConnections: runsHandlers ? Math.max(1, size - 1) : 1,
    ...(debuggerUrl() === undefined ? {} : { idleInTransactionMs: hourMs }),
  };
}

function sizeOf(role: Role, topology: Topology): number {
  if (role === "worker" || role === "task") return topology.database.poolPerWorker;
  if (role === "scheduler") return topology.database.poolPerSchedulerTask;
  return role === "api" ? 4 : 1;
}
