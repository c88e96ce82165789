/** `belfry/connect`: for programs beside Belfry's own processes, such as a web server. Works on Node 20 and in a bundle. */
import { readFileSync } from "node:fs";
import { databasePassword } from "./adapters/aws/database-password.ts";
import { createSqsQueue } from "./adapters/aws/queue.ts";
import { sqsClient } from "./adapters/aws/sqs-client.ts";
import { createClock, systemRandom } from "./adapters/clock.ts";
import { openConnections as connectPostgres } from "./adapters/postgres/connect.ts";
import { currentEpoch } from "./adapters/postgres/epoch.ts";
import { assertSchema, assertServer } from "./adapters/postgres/migrate.ts";
import { createSession } from "./adapters/postgres/session.ts";
import { createPostgresStore } from "./adapters/postgres/store.ts";
import { createLog } from "./adapters/telemetry/log.ts";
import { createClient } from "./core/delivery/enqueue.ts";
import { bindClient } from "./core/ports/client.ts";
import { readSettings } from "./settings.ts";
import { stageDefaults } from "./stages.ts";

export { databaseConnection, databasePool, type DatabasePoolOptions } from "./database.ts";

export interface ConnectOptions {
  /** Default: `BELFRY_STAGE`, else `dev`. */
  readonly stage?: string;
  /** Default: `DATABASE_URL`. */
  readonly databaseUrl?: string;
  /** URLs of the lanes' queues. Default: `BELFRY_QUEUE_URLS`; others are looked up as `belfry-STAGE-LANE`. */
  readonly queueUrls?: Readonly<Record<string, string>>;
  /** Connections to the database. Default 4. */
  readonly poolSize?: number;
  /** Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes `job.enqueue()` work in this process. Loads no apps: a job is known by importing it.
 * @throws ProblemsFound with every wrong setting at once; DatabaseUnfit or DatabaseUnavailable when the database cannot be
 * used.
 */
export async function connect(options: ConnectOptions = {}): Promise<{ close(): Promise<void> }> {
  const { stage, databaseUrl, queueUrls, environment = process.env } = options;
  const settings = readSettings({
    ...environment,
    ...(stage === undefined ? {} : { BELFRY_STAGE: stage }),
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  });
  const password = databasePassword({ ...settings, auth: settings.databaseAuth, region: settings.aws.region });
  const connections = connectPostgres({
    url: settings.databaseUrl,
    applicationName: "belfry client",
    connections: options.poolSize ?? settings.poolSize ?? 4,
    txConnections: 1,
    ...(password === null ? {} : { password }),
    ...(settings.databaseCaFile === null ? {} : { ca: readFileSync(settings.databaseCaFile, "utf8") }),
  });
  const sqs = sqsClient(settings.aws);
  const urls = { ...settings.queueUrls, ...queueUrls };
  const ports = {
    store: createPostgresStore(connections, {
      dispatchWindowMs: settings.dispatchWindowMs ?? stageDefaults.dispatchWindowMs,
    }),
    queue: createSqsQueue({ client: sqs, names: queueNameIn(settings.stageName), urls, timeScale: settings.timeScale }),
    clock: createClock(settings.timeScale),
    random: systemRandom,
    log: createLog({ service: "client", level: settings.logLevel, fields: { stage: settings.stageName } }),
    metrics: { add: () => {}, flush: () => {} },
    crashPoint: async () => {},
  };
  const close = async (): Promise<void> => {
    bindClient(null);
    sqs.destroy();
    await connections.close();
  };
  try {
    await ports.store.now();
    await assertServer(connections.main, {});
    await assertSchema(connections.main);
    await currentEpoch(createSession(connections.main, connections.where));
  } catch (error) {
    await close();
    throw error;
  }
  bindClient(createClient(ports, { stage: settings.stageName }));
  return { close };
}

/** As the topology names them: the client knows no lanes. */
const queueNameIn =
  (stage: string) =>
  (lane: string): string =>
    `belfry-${stage}-${lane}`;
