import { Client, type ClientConfig, Pool, type PoolConfig } from "pg";
import { postgresLimits } from "./postgres-limits.ts";
import { workerLimits } from "../run/worker-limits.ts";
import { parseAddress } from "./address.ts";
import { keepPlans, keptPlanSettings } from "./statement.ts";

export interface PoolOptions {
  /** `postgresql://user:password@host:port/database`. */
  readonly url: string;
  /** Shown in pg_stat_activity, for example `belfry worker mail`. */
  readonly applicationName: string;
  /** Connections for claim, heartbeat, settle and all other short statements. Default 1: enough for a worker. */
  readonly connections?: number;
  /** Connections for `ctx.tx`, so that long handler transactions cannot starve heartbeats. Default 2. */
  readonly txConnections?: number;
  /** The certificate authority in PEM; turns TLS with verification on. */
  readonly ca?: string;
  /** Called for every new connection, for example for an IAM token. Replaces the password in the URL. */
  readonly password?: () => Promise<string>;
  /**
   * Whether connections may keep prepared statements. Default true. Turn it off behind a proxy that gives each statement
   * another server connection and does not know prepared ones.
   */
  readonly prepare?: boolean;
  /** A transaction that does nothing for so long is ended by the server, so that a stopped process holds no locks. */
  readonly idleInTransactionMs?: number;
}

/** The connections of one process: for Belfry's statements, and apart from them for handlers. */
export interface Connections {
  readonly main: Pool;
  readonly tx: Pool;
  /** `host:port/database`, for messages. */
  readonly where: string;
  close(): Promise<void>;
}

/** Opens nothing yet: the first statement connects. @throws Error when the URL is not one of Postgres. */
export function openConnections(options: PoolOptions): Connections {
  const target = parseAddress(options.url);
  const config = { ...target, ...settings(options) };
  const keeps = options.prepare !== false;
  const main = quiet(
    new Pool({
      ...config,
      max: options.connections ?? 1,
      query_timeout: postgresLimits.statementMs,
      ...(keeps ? { options: keptPlanSettings } : {}),
    }),
  );
  if (keeps) main.on("connect", keepPlans);
  const tx = quiet(
    new Pool({ ...config, max: options.txConnections ?? 2, lock_timeout: postgresLimits.handlerLockMs }),
  );
  let closing: Promise<void> | null = null;
  return {
    main,
    tx,
    where: `${target.host}:${target.port}/${target.database}`,
    close() {
      closing ??= Promise.all([main.end(), tx.end()]).then(() => {});
      return closing;
    },
  };
}

function settings(options: PoolOptions): PoolConfig {
  return {
    application_name: options.applicationName,
    lock_timeout: workerLimits.claimLockTimeoutMs,
    idle_in_transaction_session_timeout: options.idleInTransactionMs ?? postgresLimits.idleInTransactionMs,
    connectionTimeoutMillis: postgresLimits.connectionWaitMs,
    idleTimeoutMillis: postgresLimits.connectionIdleMs,
    Client: ImpatientClient,
    keepAlive: true,
    ...(options.ca === undefined ? {} : { ssl: { ca: options.ca, rejectUnauthorized: true } }),
    ...(options.password === undefined ? {} : { password: options.password }),
  };
}

/**
 * The pool has one time limit for two waits: for a server that does not answer, which should be short, and for a free
 * connection of a busy pool, which may be long.
 */
class ImpatientClient extends Client {
  constructor(config: ClientConfig = {}) {
    // The pool hides the password from a copy.
    super(Object.create(config, { connectionTimeoutMillis: { value: postgresLimits.connectMs } }) as ClientConfig);
  }
}

/** A client that breaks while idle or checked out emits an error, which without a listener would end the process. */
function quiet(pool: Pool): Pool {
  pool.on("error", () => {});
  pool.on("connect", (client) => {
    client.on("error", () => {});
  });
  return pool;
}
