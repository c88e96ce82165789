import { fileURLToPath } from "node:url";
import { sqsClient } from "../../aws/sqs-client.ts";
import type { Topology } from "../../stage/topology.ts";
import type { Children, OnLine } from "../process/children.ts";
import { createSourceQueue, type EventSource, type SourceQueue, startEventSource } from "./event-source.ts";
import type { LaneQueues } from "../setup/resources.ts";
import { createSandbox } from "./sandbox.ts";
import { SandboxPool } from "./sandbox-pool.ts";
import type { Successor } from "../process/ready-child.ts";

export interface LanesOptions {
  readonly children: Children;
  readonly env: Readonly<Record<string, string>>;
  readonly timeScale: number;
  readonly onLine?: OnLine | undefined;
  readonly onProblem: (where: string, what: string, error: unknown) => void;
  /** The process of a worker is gone; the cause is a sentence for the attempts that ended with it. */
  readonly onWorkerEnded: (lane: string, pid: number, cause: string) => void;
  /** The event loop of a worker does not turn. */
  readonly onWorkerStill: (lane: string, pid: number, cause: string, seconds: number) => void;
  /** How long an invocation may take in place of its function's timeout; null: that. */
  readonly debuggedMs: number | null;
}

/** The workers of all lanes and the consumers of their dead-letter queues. */
export interface Lanes {
  /** Starts new lanes. A lane that the code no longer has runs until the next start. */
  apply(queues: readonly LaneQueues[], topology: Topology): void;
  /** Processes of new code, one for each lane that runs and that these still have. */
  prepare(code: string, queues: readonly LaneQueues[]): readonly Promise<Successor>[];
  /** Of the lanes. */
  names(): readonly string[];
  stop(): Promise<void>;
}

interface Function {
  readonly lane: string;
  readonly pool: SandboxPool;
  readonly source: EventSource;
}

const worker = fileURLToPath(new URL("../../../functions/worker.ts", import.meta.url));
const deadLetter = fileURLToPath(new URL("../../../functions/dead-letter.ts", import.meta.url));
const stopMs = 18_000;

export function createLanes(options: LanesOptions): Lanes {
  const functions = new Map<string, Function>();
  const region = options.env["AWS_REGION"] ?? "us-east-1";
  const sqsEndpoint = options.env["AWS_ENDPOINT_URL_SQS"] ?? null;
  const client = sqsClient({ region, sqsEndpoint, dynamodbEndpoint: null });

  const start = (name: string, { url, ...about }: FunctionAbout & { readonly url: string }): void => {
    if (functions.has(name)) return;
    functions.set(name, startFunction(name, about, createSourceQueue({ client, url, region }), options));
  };

  return {
    apply(queues, topology) {
      for (const { lane, url, deadLetterUrl } of queues) {
        start(`worker ${lane.name}`, {
          file: worker,
          lane: lane.name,
          url,
          poolSize: topology.database.poolPerWorker,
          timeoutSeconds: lane.functionTimeoutSeconds,
          concurrency: lane.concurrency,
          batchSize: lane.batchSize,
          windowSeconds: lane.batchingWindowSeconds,
        });
        start(`dead-letter ${lane.name}`, {
          file: deadLetter,
          lane: lane.name,
          url: deadLetterUrl,
          poolSize: 1,
          timeoutSeconds: topology.deadLetters.functionTimeoutSeconds,
          concurrency: 1,
          batchSize: topology.deadLetters.batchSize,
          windowSeconds: 0,
        });
      }
    },
    prepare(code, queues) {
      const kept = new Set(queues.map(({ lane }) => lane.name));
      return [...functions.values()].filter(({ lane }) => kept.has(lane)).map(({ pool }) => pool.prepare(code));
    },
    names: () => [...new Set([...functions.values()].map(({ lane }) => lane))],
    async stop() {
      // SIGTERM at once: a batch ends only when its worker releases it, and the source waits for that.
      await Promise.all([...functions.values()].flatMap(({ pool, source }) => [source.stop(), pool.stop(stopMs)]));
      client.destroy();
    },
  };
}

interface FunctionAbout {
  readonly file: string;
  readonly lane: string;
  readonly poolSize: number;
  readonly timeoutSeconds: number;
  readonly concurrency: number;
  readonly batchSize: number;
  readonly windowSeconds: number;
}

function startFunction(name: string, about: FunctionAbout, queue: SourceQueue, options: LanesOptions): Function {
  const { children, timeScale, onLine, onProblem, onWorkerEnded, onWorkerStill, debuggedMs } = options;
  const { lane } = about;
  const pool = new SandboxPool({
    max: about.concurrency,
    // A debugger that is attached would lose it.
    ...(debuggedMs === null ? {} : { unusedMs: debuggedMs }),
    onBroken: (error) => onProblem(name, "could not start", error),
    create(code) {
      const sandbox = createSandbox({
        children,
        name,
        file: about.file,
        env: { BELFRY_POOL_SIZE: String(about.poolSize), ...options.env, BELFRY_LANE: lane },
        timeoutMs: debuggedMs ?? Math.max(1_000, (about.timeoutSeconds * 1_000) / timeScale),
        runsHandlers: about.file === worker,
        code,
        onLine,
        onStill(cause, seconds) {
          if (about.file === worker) onWorkerStill(lane, sandbox.pid, cause, seconds);
        },
      });
      if (about.file === worker) void sandbox.ended.then((cause) => onWorkerEnded(lane, sandbox.pid, cause));
      return sandbox;
    },
  });
  const source = startEventSource({
    queue,
    pool,
    isLazy: about.file === deadLetter,
    batchSize: about.batchSize,
    windowMs: (about.windowSeconds * 1_000) / timeScale,
    onProblem: (what, error) => onProblem(name, what, error),
  });
  return { lane: about.lane, pool, source };
}
