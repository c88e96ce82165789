import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createClock } from "../../src/outside/clock.ts";
import { openConnections } from "../../src/postgres/connect.ts";
import { migrate } from "../../src/postgres/migrate.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { createPostgresStore } from "../../src/postgres/store.ts";
import { createApi } from "../../src/api/api.ts";
import { registry } from "../../src/define/definition.ts";
import { createClient } from "../../src/run/enqueue.ts";
import type { Log } from "../../src/machine/ports.ts";
import { freePort } from "../../src/local/process/free-port.ts";
import { type RunningPostgres, startPostgres } from "../../src/local/services/postgres.ts";
import { createMemoryLockStore } from "../../src/testing/memory-lock-store.ts";
import { createMemoryQueue } from "../../src/testing/memory-queue.ts";
import { app } from "./harness.ts";

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };

/** The API through its real adapter on a Postgres of its own, which a test kills, starts again and freezes. */
export async function openFailingStore() {
  const folder = mkdtempSync(join(tmpdir(), "belfry-away-"));
  const port = await freePort();
  const begin = (): Promise<RunningPostgres> => startPostgres({ folder, port });
  let server = await begin();
  await migrate({ url: server.url });
  const connections = openConnections({ url: server.url, applicationName: "belfry api test", connections: 4 });
  onTestFinished(async () => {
    await connections.close();
    await server.stop("immediate");
    for (const each of [server.dataFolder, folder]) rmSync(each, { recursive: true, force: true });
  });
  let ids = 0;
  const ports = {
    store: createPostgresStore(connections),
    queue: createMemoryQueue({ elapsedMs: () => performance.now() }),
    locks: createMemoryLockStore(),
    clock: createClock(1),
    random: { next: Math.random, id: () => `request-${(ids += 1)}` },
    log: silent,
    metrics: { add: () => undefined, flush: () => undefined },
  };
  const api = createApi({
    ports,
    insight: createDatabase(connections, { checksRows: true }),
    registry: registry([app]),
    lanes: [{ name: "default", concurrency: 2, batchSize: 10, functionTimeoutSeconds: 60, memoryMb: 512 }],
    locks: ports.locks,
    client: createClient(ports),
    version: "1.2.3",
  });
  return {
    pool: connections.main,
    async call(method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) {
      const content = body === undefined ? {} : { body: JSON.stringify(body) };
      const type = body === undefined ? {} : { "content-type": "application/json" };
      const all = { host: "127.0.0.1", ...type, ...headers };
      const response = await api.fetch(new Request(`http://127.0.0.1${path}`, { method, headers: all, ...content }));
      const answer = (await response.json()) as { id?: string; code?: string; key?: string; created?: boolean };
      return { status: response.status, headers: response.headers, body: answer };
    },
    async kill() {
      server.kill();
      await server.exited;
    },
    async restart() {
      server = await begin();
    },
    /** Every process of the server stands still; what is returned lets them go on. */
    freeze(): () => void {
      const pids = [server.pid, ...childrenOf(server.pid)];
      const all = (signal: NodeJS.Signals): void => pids.forEach((pid) => send(pid, signal));
      all("SIGSTOP");
      return () => all("SIGCONT");
    },
  };
}

const childrenOf = (parent: number): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(name) === parent)
    .map(Number);

function parentOf(pid: string): number {
  try {
    return Number(/\) \w (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
  } catch {
    return 0;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
