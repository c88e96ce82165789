import { reasons } from "../machine/reasons.ts";
import { callHandler, contextOf, type End, runBody } from "./invocation.ts";
import type { InvocationScope } from "./invocation-scope.ts";
import { Interruption } from "./lease-keeper.ts";
import type { Outcome } from "../machine/decide.ts";
import type { JobDefinition, PayloadCheck } from "../define/definition.ts";
import { AmbiguousError, InvalidPayload, PermanentError, RateLimited, RetryLater } from "../define/errors.ts";
import type { Json, NewJob } from "../machine/job.ts";
import { failureDetail } from "../machine/failure-detail.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { orWarn } from "../machine/or-warn.ts";
import { SealBroken, SealUnavailable, sealedText, sealValue } from "../machine/seal.ts";
import { openClaimed } from "./opened.ts";
import { workerLimits } from "./worker-limits.ts";
import { checkedResult } from "../define/payload.ts";
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
  | { readonly is: "lost"; readonly goesOn?: boolean };

/** An attempt whose handler can be called. */
interface Ready extends Pick<InvocationScope, "definition" | "job"> {
  readonly is: "ready";
  readonly payload: unknown;
}

/** Opens and checks its payload. @returns how it ended, when its handler cannot be called. */
export async function prepareAttempt(worker: WorkerScope, claimed: Claimed): Promise<HandlerEnd | Ready> {
  const { ports } = worker;
  const definition = worker.registry.jobs.get(claimed.kind);
  if (definition === undefined) return { is: "outcome", outcome: await unknownKind(worker, claimed), children: [] };
  let job: Claimed;
  try {
    job = definition.seal === null ? claimed : await openClaimed(ports.seals, definition.seal, claimed);
  } catch (error) {
    return { is: "outcome", outcome: await notOpened(worker, claimed, error), children: [] };
  }
  let checked: PayloadCheck;
  try {
    const checking = definition.check(job.payload);
    checked = checking instanceof Promise ? await checking : checking;
  } catch (error) {
    // A schema that throws may succeed at the next attempt; one that refuses the payload cannot.
    return { is: "outcome", outcome: keptError(definition, outcomeOf(error, null)), children: [] };
  }
  if (!checked.ok) {
    const { message } = new InvalidPayload(job.kind, checked.issues);
    return failedAtOnce("INVALID_PAYLOAD", definition.seal === null ? message : sealedText);
  }
  return { is: "ready", definition, job, payload: checked.value };
}

/** Runs one handler until it ends or times out, or its worker stops: the steps of one attempt, in order. */
export async function runHandler(
  worker: WorkerScope,
  claimed: Claimed,
  remainingMs: () => number,
): Promise<HandlerEnd> {
  const ready = await prepareAttempt(worker, claimed);
  if (ready.is !== "ready") return ready;
  const { definition, job, payload } = ready;
  measureStart(worker, job, definition);
  const called = { worker, job, definition, hold: worker.leases.holdOf(job), remainingMs };
  const call = (scope: InvocationScope) => runBody(scope, definition, payload, contextOf(scope));
  return await callHandler(called, call, finish);
}

export function measureStart(worker: WorkerScope, job: Claimed, definition: JobDefinition): void {
  worker.ports.metrics.add("job.lateness", job.latenessMs, "Milliseconds", { job: job.kind });
  if (definition.lock !== null) worker.ports.metrics.add("scheduler.lock.acquired", 1, "Count", { job: job.kind });
}

const failedAtOnce = (code: string, message: string): HandlerEnd => ({
  is: "outcome",
  outcome: { is: "permanent", code, message },
  children: [],
});

export async function finish(scope: InvocationScope, end: End): Promise<HandlerEnd> {
  const { worker, job, hold } = scope;
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
  if (interruption?.why === "lost") return { is: "lost", goesOn: "isLeft" in end };
  // An expired lease may still be this worker's: the compare-and-set of the settle decides.
  if ("value" in end) return await succeeded(scope, end.value);
  return {
    is: "outcome",
    outcome: withDetail(scope, outcomeOf(end.error, interruption), end.error),
    children: [],
    hadNoFiles: saysNoFiles(end.error),
  };
}

/** Of an attempt that its timeout ended, only the log shows where it was. */
function withDetail({ definition, keptLog }: InvocationScope, outcome: ErrorOutcome, error: unknown): Outcome {
  if (outcome.is === "released" || outcome.is === "postponed") return outcome;
  if (definition.seal !== null) return error instanceof Interruption ? outcome : keptError(definition, outcome);
  return { ...outcome, detail: failureDetail(error instanceof Interruption ? null : error, keptLog?.lines() ?? []) };
}

/** Its text may quote a sealed payload. */
const keptError = <O extends Outcome>({ seal }: JobDefinition, outcome: O): O =>
  seal === null || !("message" in outcome) || isOfSeal(outcome) ? outcome : { ...outcome, message: sealedText };

const isOfSeal = ({ code }: { readonly code: string }): boolean =>
  code === "SEAL_UNAVAILABLE" || code === "SEAL_BROKEN";

async function succeeded({ worker, definition, children }: InvocationScope, value: Json | void): Promise<HandlerEnd> {
  const { seal } = definition;
  let result: Json;
  try {
    result = checkedResult(definition.id, value);
  } catch (error) {
    return failedAtOnce("INVALID_RESULT", seal === null ? messageOf(error) : sealedText);
  }
  try {
    if (seal !== null) result = await sealValue(worker.ports.seals, seal, result, contractLimits.resultBytesMax);
    return { is: "outcome", outcome: { is: "success", result }, children };
  } catch (error) {
    if (error instanceof RangeError) return failedAtOnce("INVALID_RESULT", error.message);
    return { is: "outcome", outcome: outcomeOf(error, null), children: [] };
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
  if (error instanceof SealBroken) return { is: "permanent", code: error.code, message: error.message };
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
  return await untilDeployed(worker, job, {
    code: "UNKNOWN_KIND",
    message: `no definition "${job.kind}" in this release`,
    waits: "it waits for a worker of a newer one",
    fix: "deploy the code that defines it, then retry the job",
    waitMsMax: workerLimits.unknownKindMs,
  });
}

/**
 * A key that this worker cannot use is a matter of the deployment: the job waits for it as for its kind, but for a day, because a grant
 * takes people longer than a release. What was changed, or moved here from another kind, opens nowhere: FAILED at once.
 */
async function notOpened(worker: WorkerScope, job: Claimed, error: unknown): Promise<Outcome> {
  if (!(error instanceof SealUnavailable)) return outcomeOf(error, null);
  const { code, message } = error;
  const [waits, fix] = ["it waits for the key", "let this worker use the key, then retry the job"];
  worker.ports.log.error("a sealed payload was not opened", { job: job.jobId, kind: job.kind, problem: message });
  return await untilDeployed(worker, job, { code, message, waits, fix, waitMsMax: workerLimits.sealUnavailableMs });
}

interface Undeployed {
  readonly code: string;
  readonly message: string;
  readonly waits: string;
  readonly fix: string;
  readonly waitMsMax: number;
}

async function untilDeployed(worker: WorkerScope, job: Claimed, missing: Undeployed): Promise<Outcome> {
  const { code, message, waits, fix, waitMsMax } = missing;
  const ageMs = await ageOf(worker, job);
  if (ageMs > waitMsMax) return { is: "permanent", code, message: `${message}: ${fix}` };
  const afterMs = Math.min(workerLimits.unknownKindRetryMsMax, Math.max(workerLimits.unknownKindRetryMs, ageMs));
  return { is: "postponed", code, message: `${message}; ${waits}`, afterMs, counted: false };
}

/** By the database's clock. A row that cannot be read now may be young. */
async function ageOf({ ports: { store, log } }: WorkerScope, { jobId }: Claimed): Promise<number> {
  const warning = "the age of a job of an unknown kind was not read";
  const rows = await orWarn(log, () => store.peek([jobId]), warning, { job: jobId });
  return rows?.[0]?.ageMs ?? 0;
}
