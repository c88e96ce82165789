import { reasons } from "../machine/reasons.ts";
import { closeScope, openScope, runInvocation } from "./invocation.ts";
import type { InvocationScope, KeptLog } from "./invocation-scope.ts";
import { type Hold, Interruption } from "./lease-keeper.ts";
import type { Outcome } from "../machine/decide.ts";
import type { JobDefinition, PayloadCheck } from "../define/definition.ts";
import { AmbiguousError, InvalidPayload, PermanentError, RateLimited, RetryLater } from "../define/errors.ts";
import type { Json, NewJob } from "../machine/job.ts";
import { failureDetail } from "../machine/failure-detail.ts";
import { workerLimits } from "./worker-limits.ts";
import { checkedResult } from "../define/new-job.ts";
import type { Claimed } from "../machine/store.ts";
import { isStoreAway } from "../machine/transaction.ts";
import type { WorkerScope } from "./worker-scope.ts";

export type HandlerEnd =
  /** To be written by the settler. `hadNoFiles`: it failed because its process had no file descriptor left. */
  | {
      readonly is: "outcome";
      readonly outcome: Outcome;
      readonly children: readonly NewJob[];
      readonly hadNoFiles?: boolean;
    }
  /** Written already by the handler's own transaction, or left to a task to write. */
  | { readonly is: "written-elsewhere" }
  /** The worker lost the job: nothing may be written. */
  | { readonly is: "lost" };

/** Runs one handler until it ends or times out, or its worker stops: the steps of one attempt, in order. */
export async function runHandler(worker: WorkerScope, job: Claimed, remainingMs: () => number): Promise<HandlerEnd> {
  const { ports } = worker;
  const definition = worker.registry.jobs.get(job.kind);
  if (definition === undefined) return { is: "outcome", outcome: await unknownKind(worker, job), children: [] };
  let checked: PayloadCheck;
  try {
    const checking = definition.check(job.payload);
    checked = checking instanceof Promise ? await checking : checking;
  } catch (error) {
    // A schema that throws may succeed at the next attempt; one that refuses the payload cannot.
    return { is: "outcome", outcome: outcomeOf(error, null), children: [] };
  }
  if (!checked.ok) return failedAtOnce("INVALID_PAYLOAD", new InvalidPayload(job.kind, checked.issues).message);
  const startedMs = ports.clock.elapsedMs();
  const hold = worker.leases.holdOf(job);
  const endsMs = startedMs + limitTime(hold, definition, remainingMs);
  const scope = openScope({ worker, job, definition, hold }, { startedMs, endsMs });
  measureStart(worker, job, definition);
  try {
    // The worker may have been stopped just after the claim.
    const end =
      hold.interruption === null ? await untilLeft(hold, runInvocation(scope, checked.value)) : interrupted(hold);
    return finish(scope, end);
  } finally {
    closeScope(scope);
    ports.metrics.add("scheduler.execution.time", ports.clock.elapsedMs() - startedMs, "Milliseconds", {
      job: job.kind,
    });
  }
}

function measureStart(worker: WorkerScope, job: Claimed, definition: JobDefinition): void {
  worker.ports.metrics.add("job.lateness", job.latenessMs, "Milliseconds", { job: job.kind });
  if (definition.lock !== null) worker.ports.metrics.add("scheduler.lock.acquired", 1, "Count", { job: job.kind });
}

const failedAtOnce = (code: string, message: string): HandlerEnd => ({
  is: "outcome",
  outcome: { is: "permanent", code, message },
  children: [],
});

/** Interrupts the handler at its timeout, or before the worker's time is over. @returns in how many ms. */
function limitTime(hold: Hold, { timeoutMs }: JobDefinition, remainingMs: () => number): number {
  const leftMs = Math.max(0, remainingMs() - workerLimits.deadlineMarginMs);
  if (timeoutMs <= leftMs) hold.endAfter(timeoutMs, "timeout");
  else hold.endAfter(leftMs, "deadline");
  return Math.min(timeoutMs, leftMs);
}

type End = { readonly value: Json | void } | { readonly error: unknown };

const interrupted = (hold: Hold): End => ({ error: hold.interruption });

/** A handler that ignores its signal is abandoned after a short grace; the attempt's number fences its later writes. */
function untilLeft(hold: Hold, running: Promise<Json | void>): Promise<End> {
  return new Promise((resolve) => {
    const end = (how: End): void => {
      hold.leave = null;
      resolve(how);
    };
    hold.leave = () => end(interrupted(hold));
    running.then(
      (value) => end({ value }),
      (error: unknown) => end({ error }),
    );
  });
}

function finish(scope: InvocationScope, end: End): HandlerEnd {
  const { worker, job, definition, hold } = scope;
  if (scope.phase === "settled") {
    if ("error" in end)
      worker.ports.log.warn("the handler failed after its transaction committed", {
        job: job.jobId,
        kind: job.kind,
        error: end.error,
      });
    return { is: "written-elsewhere" };
  }
  const { interruption } = hold;
  if (interruption?.why === "lost") return { is: "lost" };
  // An expired lease may still be this worker's: the compare-and-set of the settle decides.
  if ("value" in end) return succeeded(definition, scope.children, end.value);
  return {
    is: "outcome",
    outcome: withDetail(outcomeOf(end.error, interruption), end.error, scope.keptLog),
    children: [],
    hadNoFiles: saysNoFiles(end.error),
  };
}

/** Of an attempt that its timeout ended, only the log shows where it was. */
function withDetail(outcome: ErrorOutcome, error: unknown, keptLog: KeptLog): Outcome {
  if (outcome.is === "released" || outcome.is === "postponed") return outcome;
  return { ...outcome, detail: failureDetail(error instanceof Interruption ? null : error, keptLog.lines()) };
}

function succeeded(definition: JobDefinition, children: readonly NewJob[], value: Json | void): HandlerEnd {
  try {
    const result = checkedResult(definition.id, value);
    return { is: "outcome", outcome: { is: "success", result }, children };
  } catch (error) {
    return failedAtOnce("INVALID_RESULT", messageOf(error));
  }
}

type ErrorOutcome = Exclude<Outcome, { readonly is: "success" }>;

/** The one map from an error to an outcome. An unknown error is retried. */
export function outcomeOf(error: unknown, interruption: unknown): ErrorOutcome {
  if (interruption instanceof Interruption) {
    if (interruption.why === "timeout")
      return { is: "retryable", code: "TIMEOUT", message: interruption.message, afterMs: null };
    return { is: "released", reason: interruption.why };
  }
  // Thrown by `ctx.tx` or `ctx.enqueue`: not the handler's failure.
  if (isStoreAway(error)) return { is: "released", reason: reasons.storeAway };
  if (error instanceof PermanentError) return { is: "permanent", code: error.code, message: error.message };
  if (error instanceof InvalidPayload) return { is: "permanent", code: "INVALID_PAYLOAD", message: error.message };
  if (error instanceof AmbiguousError) return { is: "ambiguous", code: error.code, message: error.message };
  if (error instanceof RateLimited)
    return { is: "postponed", code: error.code, message: error.message, afterMs: error.afterMs, counted: false };
  if (error instanceof RetryLater)
    return { is: "retryable", code: error.code, message: error.message, afterMs: error.afterMs };
  return { is: "retryable", code: codeOf(error), message: messageOf(error), afterMs: null };
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null) return "ERROR";
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  return error instanceof Error ? error.name : "ERROR";
}

/** Any value can be thrown: without a text, or an error whose message is no string. */
function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return "something was thrown that has no text";
  }
}

/**
 * Whether an error, or what caused it, says that this process has no file descriptor left. Such a process fails every job
 * that opens one, also those that did not use them up.
 */
function saysNoFiles(error: unknown): boolean {
  const seen = new Set<unknown>();
  for (let next = error; typeof next === "object" && next !== null && !seen.has(next); next = causeOf(next)) {
    if ("code" in next && next.code === "EMFILE") return true;
    seen.add(next);
  }
  return false;
}

const causeOf = (error: object): unknown => ("cause" in error ? error.cause : null);

/**
 * During a release newer processes may make jobs of a kind that an older worker does not know. Such a job waits, longer each
 * time and without losing an attempt, for a newer worker. A job older than `unknownKindMs` is FAILED: its kind was removed.
 */
export async function unknownKind(worker: WorkerScope, job: Claimed): Promise<Outcome> {
  const ageMs = await ageOf(worker, job);
  const error = { code: "UNKNOWN_KIND", message: `no definition "${job.kind}" in this release` } as const;
  if (ageMs > workerLimits.unknownKindMs) {
    return {
      is: "permanent",
      ...error,
      message: `${error.message}: deploy the code that defines it, then retry the job`,
    };
  }
  const afterMs = Math.min(workerLimits.unknownKindRetryMsMax, Math.max(workerLimits.unknownKindRetryMs, ageMs));
  const message = `${error.message}; it waits for a worker of a newer one`;
  return { is: "postponed", ...error, message, afterMs, counted: false };
}

/** By the database's clock. A row that cannot be read now may be young. */
async function ageOf({ ports: { store, log } }: WorkerScope, { jobId }: Claimed): Promise<number> {
  try {
    const [row] = await store.peek([jobId]);
    return row?.ageMs ?? 0;
  } catch (error) {
    log.warn("the age of a job of an unknown kind was not read", { job: jobId, error });
    return 0;
  }
}
