/** `belfry/connect`: for programs beside Belfry's own processes, such as a web server. Works on Node 20 and in a bundle. */
import { createSqsQueue } from "../aws/queue.ts";
import { openSeals } from "../aws/seals.ts";
import { sqsClient } from "../aws/sqs-client.ts";
import { createClock, systemRandom } from "../outside/clock.ts";
import { openTracing } from "../outside/tracing.ts";
import { createCellStore } from "../postgres/cell-store.ts";
import { openConnections as connectPostgres } from "../postgres/connect.ts";
import { currentEpoch } from "../postgres/epoch.ts";
import { DatabaseUnavailable } from "../postgres/failure.ts";
import { assertSchema, assertServer } from "../postgres/schema-version.ts";
import { createSession } from "../postgres/session.ts";
import { createPostgresStore } from "../postgres/store.ts";
import { createLog } from "../aws/telemetry/log.ts";
import { createCellsClient, type OpenCell, type RouteBy } from "../cells/routing.ts";
import { createClient } from "../run/enqueue.ts";
import { bindClient, type EnqueueClient } from "../machine/client.ts";
import type { Tracing } from "../machine/ports.ts";
import { readSettings } from "../stage/settings.ts";
import { stageDefaults } from "../stage/stages.ts";
import { databaseAccess } from "./database.ts";

export { type CellFailure, CellsFailed, type RouteBy } from "../cells/routing.ts";
export { type DatabaseConnection, databaseConnection, databasePool, type DatabasePoolOptions } from "./database.ts";

/** How one stage is reached. */
export interface StagePlace {
  /** Default: `BELFRY_STAGE`, else `dev`. */
  readonly stage?: string;
  /** Default: `DATABASE_URL`. */
  readonly databaseUrl?: string;
  /** URLs of the lanes' queues. Default: `BELFRY_QUEUE_URLS`; others are looked up as `belfry-STAGE-LANE`. */
  readonly queueUrls?: Readonly<Record<string, string>>;
  /** Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

export interface ConnectOptions extends StagePlace {
  /** Connections to the database, of each cell. Default 4. */
  readonly poolSize?: number;
  /** Several whole stages in place of one, by their names in the cell map. Jobs go to the cell that has their key. */
  readonly cells?: Readonly<Record<string, StagePlace>>;
  /** With `cells`: the text that chooses the cell. Default: the key; a job without one goes to any cell. */
  readonly routeBy?: RouteBy;
}

/**
 * Makes `job.enqueue()` work in this process. Loads no apps: a job is known by importing it.
 * @throws DefinitionProblems with every wrong setting at once; DatabaseUnfit or DatabaseUnavailable when the database cannot be
 * used. Of several cells one may be away: its jobs are refused with CellsFailed, those of the others are written.
 */
export async function connect(options: ConnectOptions = {}): Promise<{ close(): Promise<void> }> {
  const { cells } = options;
  const opened = new Map<string, Opened>();
  const close = async (): Promise<void> => {
    bindClient(null);
    await Promise.all([...opened.values()].map((each) => each.close()));
  };
  const tracing = await openTracing();
  try {
    if (cells === undefined) opened.set("", openStage(options, tracing));
    for (const [name, place] of Object.entries(cells ?? {}))
      opened.set(name, openStage({ ...options, ...place }, tracing));
    await Promise.all([...opened.values()].map((each) => each.check({ patient: cells !== undefined })));
    bindClient(clientOf(options, opened));
  } catch (error) {
    await close();
    throw error;
  }
  return { close };
}

function clientOf({ cells, routeBy }: ConnectOptions, opened: ReadonlyMap<string, Opened>): EnqueueClient {
  const [single] = opened.values();
  if (cells === undefined && single !== undefined) return single.client;
  if (opened.size === 0) throw new RangeError("cells is {}; it must name each cell of the cell map");
  return createCellsClient(opened, routeBy);
}

interface Opened extends OpenCell {
  /** `patient`: a database that is away is no error. */
  check(options: { readonly patient: boolean }): Promise<void>;
  close(): Promise<void>;
}

/** Nothing is opened before the first use. */
function openStage(options: StagePlace & Pick<ConnectOptions, "poolSize">, tracing: Tracing | null): Opened {
  const { stage, databaseUrl, queueUrls, environment = process.env } = options;
  const settings = readSettings({
    ...environment,
    ...(stage === undefined ? {} : { BELFRY_STAGE: stage }),
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
  });
  const connections = connectPostgres({
    ...databaseAccess(settings),
    applicationName: "belfry client",
    connections: options.poolSize ?? settings.poolSize ?? 4,
    txConnections: 1,
  });
  const sqs = sqsClient(settings.aws);
  const urls = { ...settings.queueUrls, ...queueUrls };
  const session = createSession(connections.main, connections.where);
  const ports = {
    store: createPostgresStore(connections, {
      dispatchWindowMs: settings.dispatchWindowMs ?? stageDefaults.dispatchWindowMs,
    }),
    queue: createSqsQueue({ client: sqs, names: queueNameIn(settings.stageName), urls, timeScale: settings.timeScale }),
    clock: createClock(settings.timeScale),
    random: systemRandom,
    log: createLog({ service: "client", level: settings.logLevel, fields: { stage: settings.stageName } }),
    metrics: { add: () => {}, flush: () => {} },
    seals: openSeals(settings.seals, createClock()),
    ...(tracing === null ? {} : { tracing }),
  };
  return {
    client: createClient(ports),
    store: createCellStore(session),
    async check({ patient }) {
      try {
        await ports.store.now();
      } catch (error) {
        if (patient && error instanceof DatabaseUnavailable) return;
        throw error;
      }
      await assertServer(connections.main, {});
      await assertSchema(connections.main);
      await currentEpoch(session);
    },
    async close() {
      sqs.destroy();
      await connections.close();
    },
  };
}

/** As the topology names them: the client knows no lanes. */
const queueNameIn =
  (stage: string) =>
  (lane: string): string =>
    `belfry-${stage}-${lane}`;
