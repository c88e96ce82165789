import { reasons } from "../job/reasons.ts";
import { createInvocation, type Invocation, type RunningAttempt } from "./invocation.ts";
import type { Outcome } from "../job/decide.ts";
import type { JobDefinition } from "../define/definition.ts";
import { AmbiguousError, InvalidPayload, PermanentError, RetryLater } from "../define/errors.ts";
import { Interruption } from "./interruption.ts";
import type { Json, NewJob } from "../job/job.ts";
import { contractLimits } from "../job/contract-limits.ts";
import { failureDetail } from "../job/failure-detail.ts";
import { workerLimits } from "./worker-limits.ts";
import { checkedJson } from "../define/new-job.ts";
import { type Claimed, isStoreAway } from "../ports/ports.ts";
import { unknownKind } from "./unknown-kind.ts";
import type { WorkerScope } from "./worker-scope.ts";

export type HandlerEnd =
  /** To be written by the settler. */
  | { readonly is: "outcome"; readonly outcome: Outcome; readonly children: readonly NewJob[] }
  /** Written already by the handler's own transaction, or left to a task to write. */
  | { readonly is: "settled" }
  /** The worker lost the job: nothing may be written. */
  | { readonly is: "lost" };

/** Runs one handler until it ends or times out, or its worker stops: the steps of one attempt, in order. */
export async function runHandler(worker: WorkerScope, job: Claimed, remainingMs: () => number): Promise<HandlerEnd> {
  const { ports } = worker;
  const definition = worker.registry.jobs.get(job.kind);
  if (definition === undefined) return { is: "outcome", outcome: await unknownKind(worker, job), children: [] };
  const checked = await checkPayload(definition, job);
  if ("is" in checked) return checked;
  const startedMs = ports.clock.elapsedMs();
  const timer = startTimer(worker, job, definition, remainingMs);
  const attempt = { worker, job, definition };
  const invocation = createInvocation(attempt, checked.value, timer.signal);
  measureStart(worker, job, definition);
  try {
    // The worker may have been stopped just after the claim.
    const end = timer.signal.aborted
      ? { error: timer.signal.reason as unknown }
      : await race(worker, invocation.run(), timer.signal);
    return finish(attempt, invocation, timer.signal, end);
  } finally {
    timer.stop();
    invocation.close();
    ports.metrics.add("scheduler.execution.time", ports.clock.elapsedMs() - startedMs, "Milliseconds", {
      job: job.kind,
    });
  }
}

/** A schema that throws may succeed at the next attempt; one that refuses the payload cannot. */
async function checkPayload(definition: JobDefinition, job: Claimed): Promise<{ value: unknown } | HandlerEnd> {
  try {
    const checked = await definition.check(job.payload);
    if (checked.ok) return { value: checked.value };
    return failedAtOnce("INVALID_PAYLOAD", new InvalidPayload(job.kind, checked.issues).message);
  } catch (error) {
    return { is: "outcome", outcome: outcomeOf(error, null), children: [] };
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

/** Interrupts the handler at its timeout, or before the worker's time is over. */
function startTimer(
  worker: WorkerScope,
  job: Claimed,
  definition: JobDefinition,
  remainingMs: () => number,
): { signal: AbortSignal; stop: () => void } {
  const leftMs = Math.max(0, remainingMs() - workerLimits.deadlineMarginMs);
  const why = definition.timeoutMs <= leftMs ? "timeout" : "deadline";
  const signal = worker.leases.signal(job);
  const stop = worker.ports.clock.after(Math.min(definition.timeoutMs, leftMs), () =>
    worker.leases.interrupt(job, new Interruption(why)),
  );
  return { signal, stop };
}

type End = { readonly value: Json | void } | { readonly error: unknown };

/** A handler that ignores its signal is abandoned after a short grace; the attempt's number fences its later writes. */
function race(worker: WorkerScope, running: Promise<Json | void>, signal: AbortSignal): Promise<End> {
  return new Promise((resolve) => {
    let cancel = (): void => {};
    // The worker outlives its jobs: a listener that is not removed would slow down every later job.
    const end = (how: End): void => {
      cancel();
      signal.removeEventListener("abort", giveUp);
      stay();
      resolve(how);
    };
    const leave = (): void => end({ error: signal.reason });
    const giveUp = (): void => {
      if (!worker.stopping.aborted) cancel = worker.ports.clock.after(workerLimits.abortGraceMs, leave);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    const stay = worker.leases.whenOverdue(leave);
    running.then(
      (value) => end({ value }),
      (error: unknown) => end({ error }),
    );
  });
}

function finish(
  { worker, job, definition }: RunningAttempt,
  invocation: Invocation,
  signal: AbortSignal,
  end: End,
): HandlerEnd {
  if (invocation.settled()) {
    if ("error" in end)
      worker.ports.log.warn("the handler failed after its transaction committed", {
        job: job.jobId,
        kind: job.kind,
        error: end.error,
      });
    return { is: "settled" };
  }
  const reason: unknown = signal.aborted ? signal.reason : null;
  if (reason instanceof Interruption && reason.why === "lost") return { is: "lost" };
  // An expired lease may still be this worker's: the compare-and-set of the settle decides.
  if ("value" in end) return succeeded(job, definition, invocation, end.value);
  return { is: "outcome", outcome: withDetail(outcomeOf(end.error, reason), end.error, invocation), children: [] };
}

/** Of an attempt that its timeout ended, only the log shows where it was. */
function withDetail(outcome: Outcome, error: unknown, invocation: Invocation): Outcome {
  if (outcome.is === "success" || outcome.is === "released" || outcome.is === "postponed") return outcome;
  return { ...outcome, detail: failureDetail(error instanceof Interruption ? null : error, invocation.lines()) };
}

function succeeded(job: Claimed, definition: JobDefinition, invocation: Invocation, value: Json | void): HandlerEnd {
  try {
    const result = value === undefined ? null : checkedJson(definition.id, value, contractLimits.resultBytesMax);
    return { is: "outcome", outcome: { is: "success", result }, children: invocation.children() };
  } catch (error) {
    return failedAtOnce("INVALID_RESULT", `result of "${job.kind}": ${messageOf(error)}`);
  }
}

/** The one map from an error to an outcome. An unknown error is retried. */
export function outcomeOf(error: unknown, interruption: unknown): Outcome {
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
