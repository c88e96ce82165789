import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SQSClient } from "@aws-sdk/client-sqs";
import pg from "pg";
import { localCredentials } from "../src/aws/address.ts";
import { type SqsClient, sqsClient } from "../src/aws/sqs-client.ts";
import { type Connections, createPostgresStore, migrate, openConnections } from "../src/postgres/index.ts";
import { keptPlanSettings } from "../src/postgres/statement.ts";
import { checkpointSettings, vacuumSettings } from "../infra/server-settings.ts";
import type { Store } from "../src/machine/store.ts";
import { startPostgres } from "../src/local/services/postgres.ts";
import { cpuUs } from "./backend-cpu.ts";

/** Durable, vacuumed and with checkpoints as a disk of 80 GB in production. */
const settings = { ...vacuumSettings, ...checkpointSettings(80), shared_buffers: "512MB" };

/** What the cases stand on: one real Postgres, and an SQS API in a process of its own once a case asks for it. */
export interface Ground {
  /** `settings` are its own, as `name = value`. A fresh, migrated database with `raw.job`: the table of the roofs, frozen in `raw-table.sql`. */
  database(options?: { readonly settings?: readonly string[] }): Promise<Database>;
  sqs(): Promise<Sqs>;
  close(): Promise<void>;
}

export interface Database {
  readonly url: string;
  /** For the roofs and for loading rows. Connects as the store does. */
  readonly pool: pg.Pool;
  /** A store on `connections` connections of its own. */
  store(connections: number): Store;
  /** CPU microseconds that the backends of the stores, or those of the roof, have used so far. */
  cpuUs(of: "stores" | "roof"): Promise<number>;
  close(): Promise<void>;
}

export interface Sqs {
  readonly url: string;
  /** As Belfry makes it. */
  readonly client: SqsClient;
  /** As the SDK makes it, for the roofs. */
  readonly bare: SQSClient;
  /** Makes a queue. @returns its URL. */
  queue(name: string): Promise<string>;
  close(): Promise<void>;
}

/** Of every store that is measured. */
export const storeName = "belfry bench";
const roofName = "bench roof";

/** What a database of the bench is made with: this commit's adapter, or that of the commit it is compared with. */
export interface Adapter<C extends { close(): Promise<void> }> {
  migrate(options: { url: string }): Promise<unknown>;
  openConnections(options: { url: string; applicationName: string; connections: number }): C;
  createPostgresStore(connections: C): Store;
}

const ownAdapter: Adapter<Connections> = { migrate, openConnections, createPostgresStore };

/** A durable server of its own, which does not outlive this process. */
export async function openServer(): Promise<{ readonly url: string; readonly pid: number; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-bench-"));
  const server = await startPostgres({ folder, port: 0, settings });
  const remove = (): void => {
    rmSync(server.dataFolder, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  };
  onEarlyEnd(() => {
    server.kill();
    remove();
  });
  return {
    url: server.url,
    pid: server.pid,
    async close() {
      await server.stop("immediate");
      remove();
    },
  };
}

export async function openGround(): Promise<Ground> {
  const server = await openServer();
  const opened: { close(): Promise<void> }[] = [];
  let made = 0;
  return {
    async database({ settings: own = [] } = {}) {
      made += 1;
      const database = await createDatabase(server.url, { name: `bench_${made}`, settings: own, adapter: ownAdapter });
      opened.push(database);
      return database;
    },
    async sqs() {
      const sqs = await startSqsProcess();
      opened.push(sqs);
      return sqs;
    },
    async close() {
      for (const each of opened) await each.close();
      await server.close();
    },
  };
}

/** Ctrl-C in the middle leaves no server and no folder. */
function onEarlyEnd(cleanUp: () => void): void {
  process.once("exit", cleanUp);
  process.once("SIGINT", () => process.exit(130));
  process.once("SIGTERM", () => process.exit(143));
}

export async function createDatabase<C extends { close(): Promise<void> }>(
  server: string,
  { name, settings: own, adapter }: { name: string; settings: readonly string[]; adapter: Adapter<C> },
): Promise<Database> {
  await execute(server, `create database ${name}`);
  for (const setting of own) await execute(server, `alter database ${name} set ${setting}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  await adapter.migrate({ url: url.href });
  const pool = new pg.Pool({
    connectionString: url.href,
    max: 8,
    application_name: roofName,
    options: keptPlanSettings,
  });
  pool.on("error", () => {});
  await pool.query(readFileSync(new URL("./raw-table.sql", import.meta.url), "utf8"));
  const connections: { close(): Promise<void> }[] = [];
  return {
    url: url.href,
    pool,
    store(count) {
      const connected = adapter.openConnections({ url: url.href, applicationName: storeName, connections: count });
      connections.push(connected);
      return adapter.createPostgresStore(connected);
    },
    async cpuUs(of) {
      const { rows } = await pool.query<{ pid: number }>(
        "select pid from pg_stat_activity where application_name = $1 and datname = current_database()",
        [of === "stores" ? storeName : roofName],
      );
      return rows.reduce((sum, { pid }) => sum + cpuUs(pid), 0);
    },
    async close() {
      await Promise.all(connections.splice(0).map((each) => each.close()));
      if (!pool.ending) await pool.end();
    },
  };
}

async function execute(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}

async function startSqsProcess(): Promise<Sqs> {
  const child = fork(new URL("./sqs-process.ts", import.meta.url));
  const [url] = (await once(child, "message")) as [string];
  const client = sqsClient({ region: "us-east-1", sqsEndpoint: url, dynamodbEndpoint: null });
  const bare = new SQSClient({ region: "us-east-1", endpoint: url, credentials: localCredentials });
  return {
    url,
    client,
    bare,
    async queue(name) {
      return (await client.call<{ QueueUrl: string }>("CreateQueue", { QueueName: name })).QueueUrl;
    },
    async close() {
      client.destroy();
      bare.destroy();
      child.disconnect();
      await once(child, "exit");
    },
  };
}
