import { createClock, systemRandom } from "../src/outside/clock.ts";
import { createApi } from "../src/api/api.ts";
import type { ApiOptions } from "../src/api/options.ts";
import { type AppDefinition, registry } from "../src/define/definition.ts";
import type { Store } from "../src/machine/store.ts";
import { createClient } from "../src/run/enqueue.ts";
import { createMemoryLockStore } from "../src/testing/memory-lock-store.ts";
import { createMemoryQueue } from "../src/testing/memory-queue.ts";

interface Given extends Pick<ApiOptions, "insight" | "lanes"> {
  readonly store: Store;
  readonly app: AppDefinition;
}

/** The HTTP API over what a bench has opened. */
export function apiOn({ store, app, ...more }: Given): ReturnType<typeof createApi> {
  const clock = createClock(1);
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
    registry: registry([app]),
    client: createClient(ports),
    locks: ports.locks,
    version: "bench",
    stage: "dev",
    ...more,
  });
}
