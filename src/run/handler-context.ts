import type { BatchResult, Context, EnqueueOptions, Job } from "../define/context.ts";
import { type Duration, durationMs } from "../calendar/duration.ts";
import { definitionOf } from "../define/define-job.ts";
import { KeyConflict } from "../define/errors.ts";
import { prepare } from "./enqueue.ts";
import { type InvocationScope, KeptLog } from "./invocation-scope.ts";
import { takeLimit } from "./take-limit.ts";
import { txSpan } from "./spans.ts";
import type { Json, NewJob } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { acquireLock } from "../machine/lock.ts";
import { orWarn } from "../machine/or-warn.ts";
import type { Log } from "../machine/ports.ts";
import type { CallerTx, Tx } from "../machine/transaction.ts";
import { valueFor, type PerStage } from "../define/stage.ts";

type Transact = <T>(scope: InvocationScope, work: (tx: Tx) => Promise<T>) => Promise<T>;

/** The `ctx` of one attempt, which fences every write through it. Its functions work without it as `this`. */
export const createContext = (scope: InvocationScope, transact: Transact): Context =>
  new HandlerContext(scope, transact);

/** Its functions are made when a handler takes them: a handler uses few, and made for each attempt they cost 1 KB. */
class HandlerContext implements Context {
  readonly #scope: InvocationScope;
  readonly #transact: Transact;
  #log: Log | null = null;

  constructor(scope: InvocationScope, transact: Transact) {
    this.#scope = scope;
    this.#transact = transact;
  }

  get jobId() {
    return this.#scope.job.jobId;
  }
  get runId() {
    return this.#scope.job.run?.runId ?? null;
  }
  get attempt() {
    return this.#scope.job.attempt;
  }
  get failures() {
    return this.#scope.job.failures;
  }
  get key() {
    return this.#scope.job.key;
  }
  get stage() {
    return this.#scope.worker.options.stage;
  }
  get scheduledFor() {
    return new Date(this.#scope.job.scheduledFor ?? this.#scope.job.dueAt);
  }
  get lateness() {
    return this.#scope.job.latenessMs;
  }
  get isCatchUp() {
    return this.#scope.job.isCatchUp;
  }
  get missedCount() {
    return this.#scope.job.missedCount;
  }
  get signal() {
    return this.#scope.hold.signal;
  }
  get log() {
    const { job, worker, startedMs } = this.#scope;
    const open = (): Log =>
      worker.ports.log.child({ job: job.jobId, kind: job.kind, attempt: job.attempt, trace: job.trace });
    this.#scope.keptLog ??= new KeptLog(worker.ports.clock, startedMs);
    return (this.#log ??= this.#scope.keptLog.over(open));
  }
  get heartbeat(): Context["heartbeat"] {
    const { job, worker } = this.#scope;
    return (progress) => {
      if (progress !== undefined) worker.leases.progress(job, checkedProgress(job.kind, progress));
      return Promise.resolve();
    };
  }
  get metric(): Context["metric"] {
    const { job, worker } = this.#scope;
    return (name, value, unit) => worker.ports.metrics.add(name, value, unit, { job: job.kind });
  }
  get secret(): Context["secret"] {
    return (name) => secretOf(this.#scope, name);
  }
  get effectKey(): Context["effectKey"] {
    return (name) => `${this.#scope.job.jobId}:${name}`;
  }
  get tx(): Context["tx"] {
    const { tracing } = this.#scope.worker.ports;
    return (work) => txSpan(tracing, () => this.#transact(this.#scope, work));
  }
  get enqueue(): Context["enqueue"] {
    return (child, payload, options) => enqueueChild(this.#scope, child, payload, options ?? {});
  }
  get withLock(): Context["withLock"] {
    return (name, options, work) => withLock(this.#scope, name, options.ttl, work);
  }
  get limit(): Context["limit"] {
    return (name, options) => takeLimit(this.#scope, name, options?.key);
  }
  get batches(): Context["batches"] {
    return (options, work) => batches(this.#scope, options, work);
  }
  get pages(): Context["pages"] {
    return (next, options) => pages(this.#scope, next, options.maxPages);
  }
}

function secretOf({ definition, worker }: InvocationScope, name: string): string {
  if (definition.secrets?.includes(name) !== true) {
    throw new Error(`job "${definition.id}" does not name the secret "${name}": add it to its \`secrets\``);
  }
  const value = worker.ports.secret?.(name);
  if (value === undefined || value === "") throw new Error(`the secret "${name}" of job "${definition.id}" is missing`);
  return value;
}

function checkedProgress(kind: string, progress: number): number {
  if (!(progress >= 0 && progress <= 1))
    throw new RangeError(`progress of "${kind}" is ${progress}; it must lie between 0 and 1`);
  return progress;
}

/** Outside a transaction a child is buffered and written with the settle: a failed or fenced attempt leaves none. */
async function enqueueChild<I>(
  scope: InvocationScope,
  child: Job<I>,
  payload: I,
  options: EnqueueOptions,
): Promise<void> {
  if (scope.phase === "batch")
    throw new Error(
      `ctx.enqueue("${child.id}") is not for runBatch, whose jobs end one by one: use enqueue of the job, with a key`,
    );
  if (scope.phase === "settled" || scope.phase === "closed") {
    throw new Error(
      `ctx.enqueue("${child.id}") after the job was settled: enqueue inside ctx.tx or before the handler ends`,
    );
  }
  if (scope.ordinal >= contractLimits.childrenPerJobMax) {
    throw new RangeError(
      `ctx.enqueue: more than ${contractLimits.childrenPerJobMax} children of one job: enqueue pages, or use a fan-out`,
    );
  }
  const ordinal = scope.ordinal++;
  const definition = definitionOf(child, "the first argument");
  const trace = scope.worker.ports.tracing?.parent() ?? scope.job.trace;
  const { key, delay, dueAt } = options;
  const delayMs = delay === undefined ? undefined : durationMs("ctx.enqueue: delay", delay);
  const [row] = await prepare(definition, { trace, seals: scope.worker.ports.seals }, [
    { payload, key, delayMs, dueAt },
  ]);
  if (row === undefined) return;
  const keyed: NewJob =
    row.key === null && row.debounce === undefined ? { ...row, key: `${scope.job.jobId}:${child.id}:${ordinal}` } : row;
  const tx = options.tx ?? scope.tx;
  if (tx === null) scope.children.push(keyed);
  else await insertNow(scope, keyed, tx);
}

async function insertNow(scope: InvocationScope, child: NewJob, tx: CallerTx): Promise<void> {
  const { ports } = scope.worker;
  const inserted = await ports.store.insert([child], { tx });
  scope.left.push(inserted.aftermath);
  for (const { id, isConflict } of inserted.results) {
    if (isConflict) throw new KeyConflict(child.kind, child.key ?? "", id);
  }
}

async function withLock<T>(
  scope: InvocationScope,
  name: string,
  ttl: Duration,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<{ acquired: true; value: T } | { acquired: false }> {
  const { ports } = scope.worker;
  const dimensions = { job: scope.job.kind };
  const owner = `${scope.job.jobId}:${scope.job.attempt}:${ports.random.id()}`;
  const got = await acquireLock(ports, {
    name,
    owner,
    leaseMs: durationMs(`ctx.withLock("${name}"): ttl`, ttl),
    signal: scope.hold.signal,
  });
  if (got.got === "outage")
    throw new Error(`the lock store is away; lock "${name}" was not taken`, { cause: got.error });
  if (got.got === "held") {
    ports.metrics.add("scheduler.lock.failed", 1, "Count", dimensions);
    return { acquired: false };
  }
  ports.metrics.add("scheduler.lock.acquired", 1, "Count", dimensions);
  try {
    return { acquired: true, value: await work(AbortSignal.any([scope.hold.signal, got.lock.lost])) };
  } finally {
    await got.lock.release();
  }
}

async function batches(
  scope: InvocationScope,
  options: { size: PerStage<number>; maxIterations: PerStage<number> },
  work: (size: number) => Promise<BatchResult>,
): Promise<BatchResult> {
  const { stage } = scope.worker.options;
  const size = within("batches.size", valueFor(stage, options.size), contractLimits.batchesSizeMax);
  const rounds = within(
    "batches.maxIterations",
    valueFor(stage, options.maxIterations),
    contractLimits.batchesIterationsMax,
  );
  let total: BatchResult = { processed: 0, succeeded: 0, failed: 0, hasMore: true };
  try {
    for (let round = 0; round < rounds && total.hasMore; round += 1) {
      scope.hold.signal.throwIfAborted();
      const batch = await work(size);
      total = {
        processed: total.processed + batch.processed,
        succeeded: total.succeeded + batch.succeeded,
        failed: total.failed + batch.failed,
        hasMore: batch.hasMore,
      };
    }
    return total;
  } finally {
    await countBatches(scope, total);
  }
}

/** Also for an attempt that fails halfway: its items were processed. Never throws: a lost count must not fail the attempt. */
async function countBatches({ worker, job, definition }: InvocationScope, total: BatchResult): Promise<void> {
  const { metrics, tally, log } = worker.ports;
  if (total.processed + total.failed === 0) return;
  metrics.add("scheduler.items.processed", total.processed, "Count", { job: job.kind });
  metrics.add("scheduler.items.succeeded", total.succeeded, "Count", { job: job.kind });
  if (total.failed > 0) metrics.add("scheduler.items.failed", total.failed, "Count", { job: job.kind });
  if (total.hasMore) metrics.add("scheduler.items.left", 1, "Count", { job: job.kind });
  const of = { kind: job.kind, lane: definition.lane };
  await orWarn(log, async () => tally?.countBatches(of, total), "what batches did was not counted", { job: job.jobId });
}

async function pages<C extends Json>(
  scope: InvocationScope,
  next: (cursor: C | null) => Promise<C | null>,
  maxPages: number,
): Promise<{ pages: number; hasMore: boolean }> {
  within("pages.maxPages", maxPages, contractLimits.pagesMax);
  let cursor: C | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    scope.hold.signal.throwIfAborted();
    cursor = await next(cursor);
    if (cursor === null) return { pages: page + 1, hasMore: false };
  }
  return { pages: maxPages, hasMore: true };
}

function within(field: string, value: number | undefined, max: number): number {
  if (value === undefined || !Number.isInteger(value) || value < 1 || value > max) {
    throw new RangeError(
      `${field} is ${value ?? "not set for this stage"}; it must be a whole number from 1 to ${max}`,
    );
  }
  return value;
}
