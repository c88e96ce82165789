import { createPostgresStore, openConnections } from "../../src/postgres/index.ts";
import { createLog } from "../../src/aws/telemetry/log.ts";
import { createMetrics } from "../../src/aws/telemetry/metrics.ts";
import { type Client, createClient } from "../../src/run/enqueue.ts";
import { resolveRuns } from "../../src/run/after-commit.ts";
import { type AppDefinition, type Registry, registry } from "../../src/define/definition.ts";
import type { Message } from "../../src/machine/outbox.ts";
import type { Ports } from "../../src/machine/ports.ts";
import { createWorker } from "../../src/run/worker.ts";
import { ownSeals } from "../../src/testing/own-seals.ts";
import { type Database, storeName } from "../ground.ts";
import { lane, noQueue, portsWith, recordsOf } from "../ports.ts";
import type { Meter } from "./meter.ts";

/** Everything real but SQS and the clock's pace: logs and metrics are written, and counted. */
export interface World {
  readonly database: Database;
  readonly ports: Ports;
  /** The same with another dispatch window: a tick plans so far ahead. */
  portsAhead(dispatchWindowMs: number): Ports;
  readonly known: Registry;
  readonly client: Client;
  /** Works off what was sent, so many messages an invocation, until nothing comes any more. */
  drain(batch: number): Promise<void>;
  /** What was planned for later is due: no fire waits for its minute here. */
  dueNow(): Promise<void>;
  close(): Promise<void>;
}

const stage = "bench";

export function openWorld(app: AppDefinition, database: Database, meter: Meter): World {
  const waiting: Message[] = [];
  const queue = meter.queue({
    ...noQueue,
    async send(_lane, messages) {
      waiting.push(...messages);
      return { failed: [] };
    },
  });
  const known = registry([app]);
  // One: with two it depends on which of them writes where whether a job's moves are on one page, and with it a fifth of the WAL.
  const connections = openConnections({ url: database.url, applicationName: storeName, connections: 1 });
  const ports: Ports = {
    ...portsWith(createPostgresStore(connections), queue),
    log: createLog({ service: "worker", level: "info", fields: { stage, lane, worker: "w-0123456789abcdef" } }),
    metrics: createMetrics({ system: "bench", stage, laneOf: () => lane }),
    seals: ownSeals(),
  };
  const worker = createWorker(ports, known, { worker: "w-0123456789abcdef", lane, stage });
  const invocation = async (batch: number): Promise<void> => {
    const records = recordsOf(waiting.splice(0, batch));
    const { failed } = await worker.handle(records, { remainingMs: () => 600_000 });
    if (failed.length > 0) throw new Error(`${failed.length} messages were given back`);
    ports.metrics.flush();
    meter.handled();
  };
  return {
    database,
    ports,
    portsAhead: (dispatchWindowMs) => ({ ...ports, store: createPostgresStore(connections, { dispatchWindowMs }) }),
    known,
    client: createClient(ports),
    async drain(batch) {
      do {
        while (waiting.length > 0) await invocation(batch);
        await resolveRuns(ports, { runs: "all", rounds: 10 });
      } while (waiting.length > 0);
    },
    async dueNow() {
      await database.pool.query("update belfry.job set due_at = belfry.now() where due_at > belfry.now()");
    },
    close: () => connections.close(),
  };
}
