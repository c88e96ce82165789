import { callBatch } from "../define/batch.ts";
import { createContext } from "./handler-context.ts";
import type { Json } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { sealValue } from "../machine/seal.ts";
import { checkedResult } from "../define/payload.ts";
import { mergeAftermaths } from "../machine/outbox.ts";
import { refuseBroken, UnknownOutcome, type StoreTx, type Tx } from "../machine/transaction.ts";
import { afterCommit } from "./after-commit.ts";
import { callHook } from "./settled-hook.ts";
import { noteConflicts, toSettlement, turnsAfter } from "./settler.ts";
import type { InvocationScope } from "./invocation-scope.ts";
import type { Hold } from "./lease-keeper.ts";
import { workerLimits } from "./worker-limits.ts";
import type { Context } from "../define/context.ts";
import type { JobDefinition, TaskBody } from "../define/definition.ts";
import { runFanOut } from "./run-fan-out.ts";
import { readyGiven, startGraph } from "./run-graph.ts";
import { runEach } from "./run-each.ts";
import type { Outcome } from "../machine/decide.ts";
import { runSweep } from "./run-sweep.ts";

type RunningAttempt = Pick<InvocationScope, "worker" | "job" | "definition" | "hold">;

/** One attempt of one handler: its buffered children, and whether its own transaction already wrote the outcome. */
export const openScope = (
  { worker, job, definition, hold }: RunningAttempt,
  { startedMs, endsMs }: { readonly startedMs: number; readonly endsMs: number },
): InvocationScope => ({
  worker,
  job,
  definition,
  hold,
  startedMs,
  endsMs,
  keptLog: null,
  children: [],
  left: [],
  ordinal: 0,
  phase: definition.body.is === "batch" ? "batch" : "open",
  tx: null,
  abandoned: null,
});

export type End<T = Json | void> = { readonly value: T } | { readonly error: unknown; readonly isLeft?: true };

interface Called extends Pick<InvocationScope, "worker" | "job" | "definition"> {
  readonly hold: Hold;
  readonly remainingMs: () => number;
}

/** One call of a handler, under its timeout. `ended`: what follows from how it ended, while its scope is open. */
export async function callHandler<T, R>(
  { remainingMs, ...called }: Called,
  call: (scope: InvocationScope) => Promise<T>,
  ended: (scope: InvocationScope, end: End<T>) => Promise<R>,
): Promise<R> {
  const { hold, definition } = called;
  const { clock, metrics, crashPoint } = called.worker.ports;
  const startedMs = clock.elapsedMs();
  const endsMs = startedMs + limitTime(hold, definition, remainingMs);
  const scope = openScope(called, { startedMs, endsMs });
  const run = async (): Promise<T> => {
    await crashPoint?.("effect.before");
    const value = await call(scope);
    await crashPoint?.("effect.after");
    return value;
  };
  try {
    // The worker may have been stopped just after the claim.
    const end: End<T> = hold.interruption === null ? await untilLeft(hold, run()) : { error: hold.interruption };
    return await ended(scope, end);
  } finally {
    closeScope(scope);
    const took = clock.elapsedMs() - startedMs;
    metrics.add("scheduler.execution.time", took, "Milliseconds", { job: definition.id });
  }
}

/** Interrupts the handler at its timeout, or before the worker's time is over. @returns in how many ms. */
function limitTime(hold: Hold, { timeoutMs }: JobDefinition, remainingMs: () => number): number {
  const leftMs = Math.max(0, remainingMs() - workerLimits.deadlineMarginMs);
  if (timeoutMs <= leftMs) hold.endAfter(timeoutMs, "timeout");
  else hold.endAfter(leftMs, "deadline");
  return Math.min(timeoutMs, leftMs);
}

/** A handler that ignores its signal is abandoned after a short grace; the attempt's number fences its later writes. */
function untilLeft<T>(hold: Hold, running: Promise<T>): Promise<End<T>> {
  return new Promise((resolve) => {
    const end = (how: End<T>): void => {
      hold.leave = null;
      resolve(how);
    };
    hold.leave = () => end({ error: hold.interruption, isLeft: true });
    running.then(
      (value) => end({ value }),
      (error: unknown) => end({ error }),
    );
  });
}

export const contextOf = (scope: InvocationScope): Context => createContext(scope, transact);

/** Ends it: every later call through the context is refused. */
function closeScope(scope: InvocationScope): void {
  if (scope.phase === "transaction") scope.abandoned?.abort();
  if (scope.phase !== "settled") scope.phase = "closed";
}

/** The worker lost the job while its transaction was open, so the transaction is rolled back. */
class LostInTransaction extends Error {
  override readonly name = "LostInTransaction";
}

/**
 * The handler's work, its children, its hook and, as the last statement, the settle: all or nothing. `other`: it ends by that
 * outcome, which no hook sees, and not by success.
 * Zero rows settled means that the worker has lost the job, so the transaction rolls back.
 */
async function transact<T>(
  scope: InvocationScope,
  work: (tx: Tx) => Promise<T>,
  other: Outcome | null = null,
): Promise<T> {
  const { ports } = scope.worker;
  if (scope.phase !== "open") throw new Error(refusals[scope.phase]);
  scope.hold.signal.throwIfAborted();
  scope.abandoned = new AbortController();
  scope.phase = "transaction";
  await scope.worker.leases.flush(scope.job);
  try {
    const value = await ports.store.transaction(
      async (tx) => {
        scope.left.length = 0;
        scope.tx = tx;
        const done = await work(tx);
        refuseBroken(tx, "ctx.tx");
        await settleIn(scope, tx, other ?? { is: "success", result: await kept(scope, toResult(scope, done)) });
        return done;
      },
      { abandoned: scope.abandoned.signal },
    );
    scope.phase = "settled";
    await committed(scope, other === null ? "SUCCESS" : "RETRY_WAIT");
    return value;
  } catch (error) {
    scope.phase = (await committedAnyway(scope, error, other === null ? "SUCCESS" : "RETRY_WAIT")) ? "settled" : "open";
    throw error;
  } finally {
    scope.tx = null;
  }
}

const refusals = {
  batch:
    "ctx.tx is not for runBatch: each of its jobs has an outcome of its own; write by their ids, so that a repeat changes nothing",
  transaction: "ctx.tx is already open: a handler has one transaction",
  settled: "ctx.tx already committed this job's success: nothing may follow it",
  closed: "the handler has ended: its context can no longer be used",
} as const;

async function settleIn(scope: InvocationScope, tx: StoreTx, outcome: Outcome): Promise<void> {
  const { ports, registry, options } = scope.worker;
  const settlement = toSettlement(ports, registry, scope.job, { outcome, children: scope.children });
  const { run, payload: own } = scope.job;
  const payload = run?.task == null ? own : run.input;
  const moved = { ...scope.job, payload, state: "SUCCESS", errorCode: null, errorMessage: null } as const;
  if (outcome.is === "success") await callHook(registry, moved, "SUCCESS", tx);
  const settled = await ports.store.settle([settlement], {
    worker: options.worker,
    tx,
  });
  if (settled.settled.length !== 1)
    throw new LostInTransaction(`job ${scope.job.jobId} is no longer attempt ${scope.job.attempt}'s`);
  scope.left.push(settled.aftermath, ...turnsAfter(registry, scope.job.kind));
  noteConflicts(ports, settled.conflicts);
}

const kept = ({ worker, definition: { seal } }: InvocationScope, result: Json | null): Promise<Json> | Json | null =>
  seal === null || result === null
    ? result
    : sealValue(worker.ports.seals, seal, result, contractLimits.resultBytesMax);

/** The work's return value becomes the result if it is JSON within the limit; a driver's query result is not. */
function toResult(scope: InvocationScope, done: unknown): Json | null {
  if (isQueryResult(done)) return null;
  try {
    return checkedResult(scope.definition.id, done);
  } catch (error) {
    scope.worker.ports.log.warn("what ctx.tx returned is not kept as the result", {
      job: scope.job.jobId,
      kind: scope.job.kind,
      error,
    });
    return null;
  }
}

const isQueryResult = (done: unknown): boolean =>
  typeof done === "object" && done !== null && "rows" in done && "command" in done;

type EndState = "SUCCESS" | "RETRY_WAIT";

async function committed(scope: InvocationScope, state: EndState): Promise<void> {
  const { ports } = scope.worker;
  if (state === "SUCCESS") ports.metrics.add("job.success", 1, "Count", { job: scope.job.kind });
  ports.log.info("job settled", {
    job: scope.job.jobId,
    kind: scope.job.kind,
    attempt: scope.job.attempt,
    trace: scope.job.trace,
    outcome: state === "SUCCESS" ? state : "POSTPONED",
    state,
  });
  await afterCommit(ports, mergeAftermaths(scope.left));
}

/** A commit whose reply was lost: the row says whether it happened. */
async function committedAnyway(scope: InvocationScope, error: unknown, state: EndState): Promise<boolean> {
  if (!(error instanceof UnknownOutcome)) return false;
  const [row] = await scope.worker.ports.store.peek([scope.job.jobId]);
  return row?.state === state && row.attempt === scope.job.attempt;
}

async function runTask(scope: InvocationScope, body: TaskBody, context: Context): Promise<Json | void> {
  const given = await readyGiven(scope, body);
  const { each } = body;
  if (each === null) return await body.run(given, context);
  const endAs = (outcome: Outcome, work: (tx: Tx) => Promise<void>) => transact(scope, work, outcome);
  return await runEach({ scope, each, given, context, endAs });
}

async function runInBatch(
  { job: { jobId, key, attempt } }: InvocationScope,
  of: Parameters<typeof callBatch>[0],
  payload: unknown,
  context: Context,
): Promise<Json | void> {
  const [end] = await callBatch(of, [{ id: jobId, key, payload, attempt }], context);
  if (end?.status === "rejected") throw end.reason;
  return end?.value;
}

/** Runs the definition's body. A fan-out, sweep or graph starter writes its outcome in its own transaction. */
export async function runBody(
  scope: InvocationScope,
  { id, body }: JobDefinition,
  payload: unknown,
  context: Context,
): Promise<Json | void> {
  switch (body.is) {
    case "handler":
      return await body.run(payload, context);
    case "batch":
      return await runInBatch(scope, { id, body }, payload, context);
    case "task":
      return await runTask(scope, body, context);
    case "graph":
    case "dataGraph":
      return await startGraph(scope, context);
    case "fanOut":
      return await runFanOut(scope, body, context);
    case "sweep":
      return await runSweep(scope, body, context);
  }
}
