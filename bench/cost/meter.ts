import pg from "pg";
import type { Queue } from "../../src/machine/ports.ts";
import type { Database } from "../ground.ts";
import { walBytes } from "../peers/ring.ts";

/** What a kind of work used. All of it is divided by its jobs at the end. */
export interface Used {
  /** Of the server while nothing else ran. */
  walBytes: number;
  /** Of the backends. */
  postgresUs: number;
  /** How long connections were busy, from the call of a statement to its answer, the way to the server included. */
  connectionMs: number;
  statements: number;
  nodeUs: number;
  /** Sends, and a receive and a delete for each batch of messages. */
  sqsCalls: number;
  /** Log lines and metrics, as they go to CloudWatch. */
  logBytes: number;
}

export interface Meter {
  readonly used: Used;
  /** Counts what `work` uses, and nothing between two calls. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** A batch of messages came from the queue and left it. */
  handled(): void;
  readonly queue: (queue: Queue) => Queue;
}

type Query = (this: pg.Client, ...args: unknown[]) => unknown;

export function createMeter(database: Database): Meter {
  const used = { walBytes: 0, postgresUs: 0, connectionMs: 0, statements: 0, nodeUs: 0, sqsCalls: 0, logBytes: 0 };
  return {
    used,
    async during(work) {
      const before = { cpu: await database.cpuUs("stores"), wal: await walBytes(database.pool) };
      const restore = [countStatements(used), countOutput(used)];
      const node = process.cpuUsage();
      try {
        return await work();
      } finally {
        const { user, system } = process.cpuUsage(node);
        for (const each of restore) each();
        used.nodeUs += user + system;
        used.postgresUs += (await database.cpuUs("stores")) - before.cpu;
        used.walBytes += (await walBytes(database.pool)) - before.wal;
      }
    },
    handled() {
      used.sqsCalls += 2;
    },
    queue: (queue) => ({
      ...queue,
      send(lane, messages) {
        used.sqsCalls += 1;
        return queue.send(lane, messages);
      },
    }),
  };
}

function countStatements(used: Used): () => void {
  const prototype = pg.Client.prototype as unknown as { query: Query };
  const { query } = prototype;
  prototype.query = function counted(...args) {
    used.statements += 1;
    const startedMs = performance.now();
    const answer = query.apply(this, args);
    const done = (): void => void (used.connectionMs += performance.now() - startedMs);
    if (answer instanceof Promise) answer.then(done, done);
    return answer;
  };
  return () => void (prototype.query = query);
}

/** The lines are counted as they leave, and not shown. */
function countOutput(used: Used): () => void {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array) => {
    used.logBytes += Buffer.byteLength(chunk);
    return true;
  };
  return () => void (process.stdout.write = write);
}
