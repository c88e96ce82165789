/** What happens inside a transaction of the store or of a caller. */
import type { Aftermath } from "./outbox.ts";
import type { JobId, JobView, Json } from "./job.ts";

/** A transaction of the caller's own: a plain `pg` client that has begun one, or what another driver's is wrapped in. */
export interface CallerTx {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;
}

/** What sends statements; `R` is what the caller knows of the rows. */
export interface Queries extends CallerTx {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- rows are what the caller says of them
  query<R extends object = Record<string, unknown>>(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: R[]; rowCount: number | null }>;
}

/** A transaction of Belfry's. A plain `pg` client that has begun one is a `Tx` too. */
export type Tx = Queries;

/** One connection of a pool. */
export interface PooledConnection extends Queries {
  /** Once. True or an error ends it: what it was left in is not known. */
  release(broken?: Error | boolean): void;
}

/** What is promised of a pool. It is one of `pg`, whose own types need a newer compiler than a project may have. */
export interface DatabasePool extends Queries {
  connect(): Promise<PooledConnection>;
  end(): Promise<void>;
}

export interface StoreTx extends Tx {
  /** Runs `work` in a savepoint: when it throws, its writes are undone, the transaction lives on, and the error is rethrown. */
  nested<T>(work: () => Promise<T>): Promise<T>;
  /** Set when a statement failed and aborted the transaction, even if the caller caught the error. */
  readonly brokenBy: Error | null;
}

/**
 * Refuses a transaction whose work caught the error of a statement: every later statement and the commit would fail with an
 * error that does not name the first. @throws Error naming `whose` work it was.
 */
export function refuseBroken(tx: StoreTx, whose: string): void {
  if (tx.brokenBy === null) return;
  const text =
    `${whose}: a statement failed and its error was caught, after which Postgres keeps nothing of the transaction: let the ` +
    `error be thrown, or put the statement between "savepoint" and "rollback to savepoint"; it was: ${tx.brokenBy.message}`;
  throw new Error(text, { cause: tx.brokenBy });
}

/** A row that rescue or cancel moved, with what its `onSettled` needs. */
export interface Moved extends Pick<JobView, "kind" | "state" | "attempt" | "errorCode" | "errorMessage"> {
  readonly jobId: JobId;
  /** Of a task of a graph: its run's input. */
  readonly payload: Json;
}

export interface MovedRows {
  readonly rows: readonly Moved[];
  readonly aftermath: Aftermath;
}

/** Runs inside the transaction that moved the rows; an app's `onSettled` writes its own log rows there. */
export type InSameTransaction = (tx: StoreTx, rows: readonly Moved[]) => Promise<void>;

/**
 * Raised by the store when it cannot be used now: it is stopped, starts up, is full or has no connection left. Nothing was
 * done; the caller may repeat the call.
 */
export class StoreAway extends Error {
  override readonly name: string = "StoreAway";
}

/** Whether the same call may succeed later without a change: a compare-and-set may be repeated. */
export const isStoreAway = (error: unknown): boolean => error instanceof StoreAway || error instanceof UnknownOutcome;

/**
 * Raised by the store when the connection broke during a commit, so its result is unknown. The caller repeats a
 * compare-and-set, or reads the row.
 */
export class UnknownOutcome extends Error {
  override readonly name = "UnknownOutcome";
}

/** Who asked for a change, for the history of the jobs that it moves. */
export interface Actor {
  readonly caller?: string | null | undefined;
}
