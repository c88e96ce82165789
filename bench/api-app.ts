import { openConnections } from "../src/adapters/postgres/connect.ts";
import { createOperations } from "../src/adapters/postgres/operations.ts";
import { createClock, systemRandom } from "../src/adapters/clock.ts";
import { createApi } from "../src/api/api.ts";
import type { ApiOptions } from "../src/api/options.ts";
import { defineApp } from "../src/core/define/define-app.ts";
import { defineJob } from "../src/core/define/define-job.ts";
import { registry } from "../src/core/define/definition.ts";
import { createClient } from "../src/core/delivery/enqueue.ts";
import { createMemoryLockStore } from "../src/testing/memory-lock-store.ts";
import { createMemoryQueue } from "../src/testing/memory-queue.ts";
import type { Database } from "./ground.ts";

/** The HTTP API on a database of its own, with one job that no worker runs. */
export function apiOn(
  database: Pick<Database, "url" | "store">,
  more: Pick<ApiOptions, "console"> = {},
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
    crashPoint: () => Promise.resolve(),
  };
  const app = defineApp({ name: "bench", jobs: [defineJob({ id: "ping", run() {} })], schedules: [] });
  const options = { stage: "dev", dispatchWindowMs: 300_000 };
  return createApi({
    ports,
    operations: createOperations(
      openConnections({ url: database.url, applicationName: "belfry bench", connections: 4 }),
    ),
    registry: registry([app]),
    client: createClient(ports, options),
    lanes: [],
    locks: ports.locks,
    version: "bench",
    ...options,
    ...more,
  });
}
