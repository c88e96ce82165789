import { setTimeout as wait } from "node:timers/promises";
import type { Client, Pool, PoolClient } from "pg";
import { contractLimits } from "../machine/contract-limits.ts";
import { postgresLimits } from "./postgres-limits.ts";
import { type Fence, FenceLost } from "../machine/fence.ts";
import { type StoreTx, UnknownOutcome } from "../machine/transaction.ts";
import {
  toStoreError,
  DatabaseError,
  DatabaseUnavailable,
  endsConnection,
  isRetryable,
  unavailable,
} from "./failure.ts";
import { type Begun, beginFenced, beginTransaction, transactionStatus } from "./sql/transaction.ts";
import { execute, keepPlansAs, type Statement } from "./statement.ts";

export interface Session {
  /** Of every statement that dispatches: it is one setting of the process. */
  readonly dispatchWindowMs: number;
  /** One statement, its own transaction. Deadlocks and serialization failures are retried. */
  run<R>(statement: Statement<R>, values?: unknown[]): Promise<R[]>;
  /** Retried like `run`, so `work` must only write through its `tx`. A fence is checked before `work`. */
  transaction<T>(work: (tx: StoreTx) => Promise<T>, fence?: Fence): Promise<T>;
  /** One statement: in a fenced transaction when there is a fence, else by itself. */
  fenced<R>(fence: Fence | undefined, statement: Statement<R>, values?: unknown[]): Promise<R[]>;
}

export interface SessionOptions {
  /** Default `contractLimits.dispatchWindowMs`. */
  readonly dispatchWindowMs?: number;
}

export function createSession(
  pool: Pool,
  where: string,
  { dispatchWindowMs = contractLimits.dispatchWindowMs }: SessionOptions = {},
): Session {
  const session: Session = {
    dispatchWindowMs,
    run: (statement, values) => retried(() => withClient(pool, where, (client) => execute(client, statement, values))),
    transaction: (work, fence) => retried(() => transaction(pool, where, work, { fence })),
    fenced: (fence, statement, values) =>
      fence === undefined
        ? session.run(statement, values)
        : session.transaction((tx) => execute(tx, statement, values), fence),
  };
  return session;
}

/** READ COMMITTED, whatever the database's default. Commits when `work` resolves, else rolls back. Never retried. */
export async function transaction<T>(
  pool: Pool,
  where: string,
  work: (tx: StoreTx) => Promise<T>,
  { fence, abandoned }: { readonly fence?: Fence | undefined; readonly abandoned?: AbortSignal } = {},
): Promise<T> {
  const end = await withClient(pool, where, async (client) => {
    endWhen(abandoned, client);
    const failures = new WeakSet<object>();
    try {
      const begun = await begin(client, fence);
      const value = await work(storeTx(client, failures));
      return { value, begun, unclear: await commit(client) };
    } catch (error) {
      // A connection that fails to roll back is still in its transaction, so it is dropped.
      await client.query("rollback").catch(() => {});
      throw notOfWork(error, failures, where) ?? error;
    }
  });
  if (end.unclear !== null) await assertCommitted(pool, where, end.begun, end.unclear);
  return end.value;
}

/** Ends the connection and fails its statement; the pool opens another connection when it needs one. */
function endWhen(abandoned: AbortSignal | undefined, client: PoolClient & Partial<Pick<Client, "end">>): void {
  abandoned?.addEventListener("abort", () => void client.end?.().catch(() => {}), { once: true });
}

/** Begins the transaction and reads its id in one round trip. An unclear commit is looked up by this id. */
async function begin(client: PoolClient, fence: Fence | undefined): Promise<Begun> {
  const text = fence === undefined ? beginTransaction.text : beginFenced(fence);
  let begun: (Begun & { readonly valid?: boolean }) | undefined;
  try {
    const results = (await client.query(text)) as unknown as { rows: Begun[] }[];
    begun = results.at(-1)?.rows[0];
  } catch (error) {
    throw toStoreError(error, "begin");
  }
  if (fence !== undefined && begun?.valid !== true)
    throw new FenceLost(`token ${fence.token} of lock "${fence.name}" is not the newest: stop the pass`);
  return begun ?? { xid: "", at: "", server: "" };
}

/** @returns the error of a connection that broke during the commit: only another connection can read its result. */
async function commit(client: PoolClient): Promise<UnknownOutcome | null> {
  try {
    const { command } = await client.query("commit");
    if (command === "COMMIT") return null;
  } catch (error) {
    const failure = toStoreError(error, "commit");
    if (failure instanceof UnknownOutcome) return failure;
    throw failure;
  }
  throw new DatabaseError("commit: a statement of the transaction had failed, so nothing of it was kept", {
    code: "25P02",
  });
}

/** @throws UnknownOutcome when the result cannot be known, DatabaseUnavailable when the transaction did not commit. */
async function assertCommitted(pool: Pool, where: string, begun: Begun, cause: UnknownOutcome): Promise<void> {
  const values = [begun.xid, begun.at, begun.server];
  for (let look = 0; look < postgresLimits.commitLooksMax; look += 1) {
    const answered = await withClient(pool, where, (client) => execute(client, transactionStatus, values)).catch(
      () => null,
    );
    const status = answered === null ? "in progress" : answered[0]?.status;
    if (status === "committed") return;
    if (status === "aborted") throw brokenOff(where, cause);
    // What another server answers is final: after one more restart it could mean another transaction.
    if (status !== "in progress") throw cause;
    await wait(postgresLimits.commitLookMs);
  }
  throw cause;
}

/** `failures` keeps the driver's errors, even if the work catches or wraps them. */
function storeTx(client: PoolClient, failures: WeakSet<object>): StoreTx {
  let brokenBy: Error | null = null;
  const query: StoreTx["query"] = async (text, values) => {
    try {
      const answer = await client.query(text, values);
      // After an error only a rollback to a savepoint succeeds.
      brokenBy = null;
      return answer;
    } catch (error) {
      if (error instanceof Error) {
        failures.add(error);
        brokenBy ??= error;
      }
      throw error;
    }
  };
  const tx: StoreTx = {
    query,
    get brokenBy() {
      return brokenBy;
    },
    async nested(work) {
      await query("savepoint belfry_nested");
      try {
        const value = await work();
        await query("release savepoint belfry_nested");
        return value;
      } catch (error) {
        await query("rollback to savepoint belfry_nested");
        await query("release savepoint belfry_nested");
        throw error;
      }
    },
  };
  keepPlansAs(client, tx);
  return tx;
}

/**
 * A deadlock or a broken connection inside an app's work is no failure of that work, even if the app wrapped the error: the
 * transaction did nothing and may run again. @returns null for every other error, also for a statement that timed out: it
 * would time out again.
 */
function notOfWork(error: unknown, failures: WeakSet<object>, where: string): Error | null {
  let cause = error;
  while (cause instanceof Error && !failures.has(cause)) cause = cause.cause;
  if (!(cause instanceof Error) || /read timeout/.test(cause.message)) return null;
  const failure = toStoreError(cause, "a statement of the transaction");
  return failure instanceof UnknownOutcome ? brokenOff(where, cause) : isRetryable(failure) ? failure : null;
}

const brokenOff = (where: string, cause: unknown): DatabaseUnavailable =>
  new DatabaseUnavailable(`the connection to Postgres at ${where} broke and the transaction was rolled back`, {
    cause,
  });

/**
 * A connection goes back to the pool only outside a transaction and on a server that takes writes: another user's statement
 * would fail in it, or be written and never committed.
 */
async function withClient<T>(pool: Pool, where: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw unavailable(error, where);
  });
  let isOver = false;
  try {
    return await work(client);
  } catch (error) {
    isOver = endsConnection(error);
    throw error;
  } finally {
    client.release(isOver || client.getTransactionStatus() !== "I");
  }
}

async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || tries >= postgresLimits.serializationRetriesMax) throw error;
      await wait(Math.random() * postgresLimits.serializationRetryMs * (tries + 1));
    }
  }
}
