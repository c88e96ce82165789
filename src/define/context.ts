import type { AttemptOutcome, JobId, Json, RunId, BatchRule } from "../machine/job.ts";
import type { Duration } from "../calendar/duration.ts";
import type { Enqueued } from "../machine/client.ts";
import type { Log, MetricUnit } from "../machine/ports.ts";
import type { CallerTx, Tx } from "../machine/transaction.ts";
import type { PerStage } from "./stage.ts";

/** A typed, named unit of work that can be enqueued and scheduled. Made by `defineJob` and its siblings. */
export interface Job<I> {
  readonly id: string;
  /**
   * Writes the job and, after the commit, sends its message.
   * A second call with the same key returns the existing job with `created: false`.
   * @throws InvalidPayload when the payload does not fit the schema, with the path of each issue.
   * @throws KeyConflict when the key exists with another payload.
   */
  enqueue(payload: I, options?: EnqueueOptions): Promise<Enqueued>;
  /** Like `enqueue` for many, 1,000 rows a statement; answers in the order of the input. */
  enqueueAll(
    items: readonly { payload: I; options?: Omit<EnqueueOptions, "tx" | "cell"> }[],
    options?: Pick<EnqueueOptions, "tx" | "cell">,
  ): Promise<readonly Enqueued[]>;
}

export interface EnqueueOptions {
  readonly key?: string;
  /** For example `"10m"`. Added to `dueAt`, or to now. */
  readonly delay?: Duration;
  readonly dueAt?: Date;
  /** The caller's own transaction: the job exists exactly if it commits. */
  readonly tx?: CallerTx;
  /** With `connect({ cells })`: the cell to write into, whose database `tx` is of. Left out: the cell that has the key. */
  readonly cell?: string;
}

/** The result of one bounded batch of a use case. */
export interface BatchResult {
  readonly processed: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly hasMore: boolean;
}

/**
 * What a handler may use. Its writes are fenced: a worker that lost its lease writes nothing.
 * Its functions may be taken out of it (`const { log, tx } = ctx`); a copy made by spreading it (`{ ...ctx }`) is empty.
 */
export interface Context {
  readonly jobId: JobId;
  /** The run it belongs to, or null. */
  readonly runId: RunId | null;
  /** The stage this runs in, `dev` or `prod`. */
  readonly stage: string;
  readonly attempt: number;
  /** Attempts that failed before this one; interruptions are not counted. */
  readonly failures: number;
  readonly key: string | null;
  /** The nominal time of the schedule, or the due time of a job that has none. */
  readonly scheduledFor: Date;
  /** Milliseconds from the nominal time to the claim. */
  readonly lateness: number;
  readonly isCatchUp: boolean;
  readonly missedCount: number;
  /** Aborts at the timeout, when the worker stops, when the job was canceled, or when its lease was lost. */
  readonly signal: AbortSignal;
  readonly log: Log;
  /** Reports progress, 0 to 1: written at once, at most one a second, and when the job ends. The worker renews the lease by itself. */
  heartbeat(progress?: number): Promise<void>;
  metric(name: string, value: number, unit?: MetricUnit): void;
  /**
   * A secret that the definition names in `secrets`. Ask for it where it is used, and keep it nowhere: it may be rotated.
   * @throws Error when the definition does not name it.
   */
  secret(name: string): string;
  /** `jobId:name`, the same in every attempt: the idempotency key of an outside effect. */
  effectKey(name: string): string;
  /**
   * Exactly once: the work, its children and this job's SUCCESS commit in one READ COMMITTED transaction.
   * What `work` returns is the job's result. Later enqueues and transactions in the handler are refused.
   */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Buffered and written with the settle statement, or at once in `tx`. A failed attempt leaves no children. If the key exists
   * with another payload, it throws KeyConflict in `tx`; a buffered child is dropped, logged and counted (`job.child.conflicts`).
   */
  enqueue<I>(job: Job<I>, payload: I, options?: EnqueueOptions): Promise<void>;
  /** Runs `work` under a named lock of the lock store. Not acquired: returns `{ acquired: false }`. */
  withLock<T>(
    name: string,
    options: { ttl: Duration },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ acquired: true; value: T } | { acquired: false }>;
  /**
   * Waits until the rate of a limit lets one more call go: right before the call, which it counts like a start of a job that names the
   * limit. Waits for half of what the attempt has left at most. `key`: of a limit by key.
   * @throws RateLimited when that is too short: leave it uncaught, and the job is tried again at the time, which uses up no attempt.
   */
  limit(name: string, options?: { readonly key: string }): Promise<void>;
  /**
   * Calls `work(size)` until `hasMore` is false, `maxIterations` is reached or the signal aborts; adds up.
   * Both limits may differ by stage: `{ default: 100, dev: 10 }`.
   */
  batches(
    options: { size: PerStage<number>; maxIterations: PerStage<number> },
    work: (size: number) => Promise<BatchResult>,
  ): Promise<BatchResult>;
  /** Follows a cursor: `next(cursor)` returns the next cursor, or null at the end. @returns the pages read and whether more are left. */
  pages<C extends Json>(
    next: (cursor: C | null) => Promise<C | null>,
    options: { maxPages: number },
  ): Promise<{ pages: number; hasMore: boolean }>;
}

/** How an attempt ended, for `onSettled`. */
export interface SettledJob {
  readonly jobId: JobId;
  readonly outcome: Exclude<AttemptOutcome, "RELEASED">;
  readonly error?: { readonly code: string; readonly message: string };
  readonly attempt: number;
  /** False when another attempt follows. */
  readonly final: boolean;
}

/** One of the jobs of a call of `runBatch`. */
export interface BatchJob<P> {
  readonly id: JobId;
  readonly key: string | null;
  readonly payload: P;
  readonly attempt: number;
}

/** What `runBatch` may use: what belongs to the call, and not to one of its jobs. Write by the id of each job, so that a repeat changes nothing. */
export type BatchContext = Pick<Context, "stage" | "signal" | "log" | "metric" | "secret" | "withLock" | "limit">;

/** The work of a kind whose jobs are run many at a time. */
export interface BatchBody {
  readonly is: "batch";
  readonly rule: BatchRule;
  readonly run: (jobs: readonly BatchJob<unknown>[], context: BatchContext) => Promise<unknown>;
}
