import { fileURLToPath } from "node:url";
import type { SqsClient } from "../../src/aws/sqs-client.ts";
import { createSourceQueue, type EventSource, startEventSource } from "../../src/local/lambda/event-source.ts";
import type { LaneQueues } from "../../src/local/setup/resources.ts";
import { SandboxPool } from "../../src/local/lambda/sandbox-pool.ts";
import { createSandbox, type Sandbox } from "../../src/local/lambda/sandbox.ts";
import type { Processes } from "./process-log.ts";

export interface FleetOptions {
  /** Default: all lanes. */
  readonly lanes?: readonly string[];
  /** Added to the environment of the `ordinal`-th sandbox of a lane, counted from 1. */
  readonly envOf?: (ordinal: number, lane: string) => Readonly<Record<string, string>>;
  /** Each worker polls by itself, as separate machines do; else one poll feeds the workers of a lane, as they are needed. */
  readonly apart?: boolean;
  /** Also runs the consumers of the dead-letter queues. */
  readonly deadLetters?: boolean;
}

export interface FleetParts {
  readonly processes: Processes;
  readonly sqs: SqsClient;
  readonly queues: readonly LaneQueues[];
  readonly env: Readonly<Record<string, string>>;
}

/** The workers of some lanes: event sources in this process, each with sandboxes of the real worker function. */
export interface Fleet {
  /** Living sandboxes of the workers, by lane. */
  pids(lane?: string): readonly number[];
  /** Every worker sandbox there ever was, oldest first. */
  started(lane: string): readonly number[];
  /** No more messages are received; sandboxes get SIGTERM. */
  stop(graceMs?: number): Promise<void>;
}

const workerFile = fileURLToPath(new URL("../../functions/worker.ts", import.meta.url));
const drainFile = fileURLToPath(new URL("../../functions/dead-letter.ts", import.meta.url));
const region = "us-east-1";

export function startFleet(parts: FleetParts, options: FleetOptions): Fleet {
  const chosen = parts.queues.filter(({ lane }) => options.lanes?.includes(lane.name) ?? true);
  const started = new Map<string, Sandbox[]>();
  const sources: { source: EventSource; pool: SandboxPool }[] = [];
  for (const queues of chosen) {
    started.set(queues.lane.name, []);
    const { concurrency } = queues.lane;
    if (options.apart === true) {
      const alone = { ...queues, lane: { ...queues.lane, concurrency: 1 } };
      for (let n = 0; n < concurrency; n += 1) sources.push(workersOf(parts, options, alone, started));
    } else {
      sources.push(workersOf(parts, options, queues, started));
    }
    if (options.deadLetters === true) sources.push(drainOf(parts, queues));
  }
  const living = (lane: string): number[] =>
    (started.get(lane) ?? []).filter((sandbox) => !sandbox.hasEnded).map((sandbox) => sandbox.pid);
  return {
    pids: (lane) => (lane === undefined ? [...started.keys()].flatMap(living) : living(lane)),
    started: (lane) => (started.get(lane) ?? []).map((sandbox) => sandbox.pid),
    async stop(graceMs = 3_000) {
      const stopped = sources.map(({ source }) => source.stop());
      await Promise.all(sources.map(({ pool }) => pool.stop(graceMs)));
      await Promise.all(stopped);
      await Promise.all(sources.map(({ pool }) => pool.stop(graceMs)));
    },
  };
}

function workersOf(
  { processes, sqs, env }: FleetParts,
  options: FleetOptions,
  { lane, url }: LaneQueues,
  started: Map<string, Sandbox[]>,
): { source: EventSource; pool: SandboxPool } {
  const sandboxes = started.get(lane.name) ?? [];
  const pool = new SandboxPool({
    max: lane.concurrency,
    onBroken: (error) => process.stderr.write(`a worker of lane ${lane.name} could not start: ${error.message}\n`),
    create() {
      const sandbox = createSandbox({
        children: processes,
        name: `worker ${lane.name}`,
        file: workerFile,
        env: { ...env, BELFRY_LANE: lane.name, ...options.envOf?.(sandboxes.length + 1, lane.name) },
        timeoutMs: lane.functionTimeoutSeconds * 1_000,
      });
      sandboxes.push(sandbox);
      return sandbox;
    },
  });
  return { pool, source: sourceOf(sqs, url, pool, lane.batchSize) };
}

function drainOf({ processes, sqs, env }: FleetParts, { lane, deadLetterUrl }: LaneQueues) {
  const pool = new SandboxPool({
    max: 1,
    onBroken: (error) => process.stderr.write(`a drain of lane ${lane.name} could not start: ${error.message}\n`),
    create: () =>
      createSandbox({
        children: processes,
        name: `dead-letter ${lane.name}`,
        file: drainFile,
        env: { ...env, BELFRY_LANE: lane.name },
        timeoutMs: 30_000,
      }),
  });
  return { pool, source: sourceOf(sqs, deadLetterUrl, pool, 10) };
}

function sourceOf(client: SqsClient, url: string, pool: SandboxPool, batchSize: number): EventSource {
  const queue = createSourceQueue({ client, url, region });
  // A failed invocation is what these proofs are about: it is judged by its rows, not reported here.
  return startEventSource({ queue, pool, batchSize, windowMs: batchSize > 10 ? 1_000 : 0, onProblem: () => {} });
}
