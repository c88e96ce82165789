import { openConnections } from "../src/postgres/connect.ts";
import { createDatabase } from "../src/postgres/database.ts";
import { createClock, systemRandom } from "../src/outside/clock.ts";
import { createApi } from "../src/api/api.ts";
import type { ApiOptions } from "../src/api/options.ts";
import { defineApp } from "../src/define/define-app.ts";
import { defineJob } from "../src/define/define-job.ts";
import { type AppDefinition, registry } from "../src/define/definition.ts";
import { createClient } from "../src/run/enqueue.ts";
import { createMemoryLockStore } from "../src/testing/memory-lock-store.ts";
import { createMemoryQueue } from "../src/testing/memory-queue.ts";
import type { Database } from "./ground.ts";

interface Given extends Partial<Pick<ApiOptions, "console" | "lanes">> {
  readonly app?: AppDefinition;
}

const pinged = defineApp({ name: "bench", jobs: [defineJob({ id: "ping", run() {} })], schedules: [] });

const connectionsOf = (url: string) => openConnections({ url, applicationName: "belfry bench", connections: 4 });

/** The HTTP API on a database of its own, with one job that no worker runs unless an app is given. */
export function apiOn(
  database: Pick<Database, "url" | "store">,
  { app = pinged, ...more }: Given = {},
): ReturnType<typeof createApi> {
  const clock = createClock(1);
  const store = database.store(4);
  const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
  const ports = {
    store,
    queue: createMemoryQueue(clock),
    locks: createMemoryLockStore(),
    clock,
    random: systemRandom,
    log: silent,
    metrics: { add() {}, flush() {} },
  };
  return createApi({
    ports,
    insight: createDatabase(connectionsOf(database.url)),
    registry: registry([app]),
    client: createClient(ports),
    lanes: [],
    locks: ports.locks,
    version: "bench",
    stage: "dev",
    ...more,
  });
}
