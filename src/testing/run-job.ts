import { createClock, systemRandom } from "../outside/clock.ts";
import type { Job } from "../define/context.ts";
import type { JobDefinition } from "../define/definition.ts";
import { definitionOf } from "../define/define-job.ts";
import { InvalidPayload } from "../define/errors.ts";
import type { JobId, Json } from "../machine/job.ts";
import type { Claimed } from "../machine/store.ts";
import type { Ports } from "../machine/ports.ts";
import type { CallerTx, Tx } from "../machine/transaction.ts";
import { createContext } from "../run/handler-context.ts";
import { openScope, runBody } from "../run/invocation.ts";
import type { InvocationScope } from "../run/invocation-scope.ts";
import type { WorkerScope } from "../run/worker-scope.ts";
import { createMemoryLockStore } from "./memory-lock-store.ts";
import { type LogLine, type Metric, recordingLog, recordingMetrics } from "./recording.ts";
import { instantOf } from "./times-of.ts";

/** @beta */
export interface RunJobOptions {
  /** Default 1. */
  readonly attempt?: number;
  /** Default: now. */
  readonly scheduledFor?: string;
  /** Default `test`. */
  readonly stage?: string;
  /** What `ctx.tx` hands out. Without it a handler that calls `ctx.tx` fails: use `createTestSystem` for it. */
  readonly tx?: CallerTx;
  /** By name: what `ctx.secret` answers. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** What a handler did, nothing of it written anywhere. @beta */
export interface JobRun {
  /** Null also for a handler that returns nothing. */
  readonly result: Json;
  /** What it threw. */
  readonly error: unknown;
  readonly enqueued: readonly { readonly kind: string; readonly payload: Json; readonly key: string | null }[];
  readonly logs: readonly LogLine[];
  readonly metrics: readonly Metric[];
  /** What it reported by `ctx.heartbeat`. */
  readonly progress: readonly number[];
}

/** Runs one handler alone, without a database. @throws InvalidPayload when the payload does not fit its schema. @beta */
export async function runJob<I>(job: Job<I>, payload: I, options: RunJobOptions = {}): Promise<JobRun> {
  const definition = definitionOf(job, "the first argument");
  const checked = await definition.check(payload);
  if (!checked.ok) throw new InvalidPayload(definition.id, checked.issues);
  const logs: LogLine[] = [];
  const metrics: Metric[] = [];
  const progress: number[] = [];
  const scope = scopeOf(definition, options, { logs, metrics, progress });
  const done = (ended: { result?: Json; error?: unknown }): JobRun => ({
    result: ended.result ?? null,
    error: ended.error,
    enqueued: scope.children.map(({ kind, payload: given, key }) => ({ kind, payload: given, key })),
    logs,
    metrics,
    progress,
  });
  try {
    // Alone, it shares no limit.
    const alone = { limit: { value: () => Promise.resolve() } };
    const context = Object.defineProperties(createContext(scope, transactionOf(options)), alone);
    return done({ result: (await runBody(scope, definition, checked.value, context)) ?? null });
  } catch (error) {
    return done({ error });
  }
}

const transactionOf =
  ({ tx }: RunJobOptions) =>
  async <T>(_: InvocationScope, work: (tx: Tx) => Promise<T>): Promise<T> => {
    if (tx !== undefined) return await work(tx as Tx);
    throw new Error("ctx.tx in runJob: pass { tx }, or test the job with createTestSystem, which has a database");
  };

interface Recorded {
  readonly logs: LogLine[];
  readonly metrics: Metric[];
  readonly progress: number[];
}

/** As far as a context looks at its worker; the store is not there, so that nothing can be written by accident. */
function scopeOf(definition: JobDefinition, options: RunJobOptions, recorded: Recorded): InvocationScope {
  const signal = options.signal ?? new AbortController().signal;
  const ports: Omit<Ports, "store" | "queue"> = {
    locks: createMemoryLockStore(),
    clock: createClock(),
    random: systemRandom,
    log: recordingLog(recorded.logs),
    metrics: recordingMetrics(recorded.metrics),
    secret: (name) => options.secrets?.[name],
  };
  const leases = { progress: (_: unknown, value: number) => void recorded.progress.push(value) };
  const how = { worker: "runJob", lane: definition.lane, stage: options.stage ?? "test" };
  const worker = { ports, options: how, leases, stopping: signal } as unknown as WorkerScope;
  const hold = { signal, interruption: null };
  const startedMs = ports.clock.elapsedMs();
  const endsMs = startedMs + definition.timeoutMs;
  return openScope({ worker, job: claimed(definition, options), definition, hold }, { startedMs, endsMs });
}

function claimed(definition: JobDefinition, { attempt = 1, scheduledFor }: RunJobOptions): Claimed {
  const at = scheduledFor === undefined ? Date.now() : instantOf("scheduledFor", scheduledFor);
  return {
    jobId: "1" as JobId,
    state: "RUNNING",
    reason: null,
    kind: definition.id,
    key: null,
    payload: null,
    generation: 0,
    attempt,
    failures: attempt - 1,
    interruptions: 0,
    maxAttempts: definition.retry.maxAttempts,
    leaseMs: definition.leaseMs,
    trace: "test",
    slotKeys: [],
    dueAt: at,
    scheduleId: null,
    scheduledFor: at,
    effectiveAt: null,
    latenessMs: 0,
    isCatchUp: false,
    missedCount: 0,
  };
}
