import { reasons } from "../machine/reasons.ts";
import { writeWhileAway } from "./write-while-away.ts";
import { workerLimits } from "./worker-limits.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { type AttemptCounters, attemptOutcomeOf, decide, type Decision, type Outcome } from "../machine/decide.ts";
import { batchRuleOf } from "../define/batch.ts";
import type { JobDefinition, Registry } from "../define/definition.ts";
import { InvalidPayload } from "../define/errors.ts";
import { assertSealed } from "../define/new-job.ts";
import type { NewJob } from "../machine/job.ts";
import { isStoreAway, type InSameTransaction } from "../machine/transaction.ts";
import type { Claimed, Settled, Settlement } from "../machine/store.ts";
import { type Aftermath, mergeAftermaths, noAftermath } from "../machine/outbox.ts";
import type { Ports } from "../machine/ports.ts";
import { afterCommit } from "./after-commit.ts";
import { withinBudget } from "./retry-budget.ts";
import { callHook } from "./settled-hook.ts";

/** Writes outcomes in small groups: one statement for jobs that finish together. */
export interface Settler {
  /** Announces jobs that will call `settle` or `withdraw`, so that the last one does not wait for more. */
  expect(jobs: number): void;
  /**
   * Repeats the write while the store is away, until `untilMs` by the clock.
   * @returns false when it is not known whether the outcome was written.
   */
  settle(job: EndedAttempt, outcome: Outcome, how: SettleOptions): Promise<boolean>;
  /** Ends the announcement of a job that needs no settle. */
  withdraw(): Promise<boolean>;
}

export type EndedAttempt = Pick<
  Claimed,
  "jobId" | "attempt" | "kind" | "failures" | "interruptions" | "maxAttempts" | "trace" | "run" | "slotKeys"
>;

export interface SettleOptions {
  readonly children: readonly NewJob[];
  /** The end of the invocation, when this process stops running. */
  readonly untilMs: number;
}

interface Waiting {
  readonly untilMs: number;
  readonly job: EndedAttempt;
  readonly settlement: Settlement;
  readonly done: (known: boolean) => void;
}

type SettlerPorts = Pick<Ports, "store" | "queue" | "clock" | "random" | "log" | "metrics" | "crashPoint">;

export function createSettler(ports: SettlerPorts, registry: Registry, options: { readonly worker: string }): Settler {
  const scope = { ports, registry, options };
  let waiting: Waiting[] = [];
  let outstanding = 0;
  let cancel: (() => void) | null = null;

  const flush = (): void => {
    cancel?.();
    cancel = null;
    const group = waiting;
    waiting = [];
    if (group.length > 0) void settleGroup(scope, group);
  };
  const arrived = (): void => {
    outstanding -= 1;
    if (outstanding <= 0 || waiting.length >= workerLimits.settleGroupMax) flush();
    else cancel ??= ports.clock.after(workerLimits.settleGatherMs, flush);
  };
  return {
    expect(jobs) {
      outstanding += jobs;
    },
    settle: (job, outcome, { children, untilMs }) =>
      new Promise((done) => {
        const settlement = toSettlement(ports, registry, job, { outcome, children });
        waiting.push({ job, settlement, untilMs, done });
        arrived();
      }),
    withdraw() {
      arrived();
      return Promise.resolve(true);
    },
  };
}

export function toSettlement(
  ports: Pick<Ports, "random" | "log">,
  registry: Registry,
  job: EndedAttempt,
  { outcome, children }: { readonly outcome: Outcome; readonly children: readonly NewJob[] },
): Settlement {
  const definition: JobDefinition | undefined = registry.jobs.get(job.kind);
  if (definition !== undefined && outcome.is === "success") assertSealed(definition, "result", outcome.result);
  const retry = definition?.retry ?? fallbackRetry;
  const { jobId, kind, failures, interruptions, maxAttempts } = job;
  const onAmbiguous = definition?.onAmbiguous ?? "retry";
  const attempt = { jobId, kind, failures, interruptions, maxAttempts, retry, onAmbiguous };
  const decision = decideOr(ports, attempt, outcome);
  const waitMs = decision.to === "RETRY_WAIT" ? (batchRuleOf(definition)?.waitMs ?? 0) : 0;
  return {
    ...decision,
    // Once it may try again, it waits for others as a new job does.
    delayMs: decision.delayMs + waitMs,
    jobId: job.jobId,
    attempt: job.attempt,
    children,
    inRun: job.run !== undefined,
    hasSlots: job.slotKeys.length > 0,
    takesTurns: definition?.turns != null,
  };
}

/** A definition's own backoff that throws must not lose the outcome: the job then waits as with `exponential`. */
function decideOr(
  { random, log }: Pick<Ports, "random" | "log">,
  attempt: AttemptCounters & Pick<EndedAttempt, "jobId" | "kind">,
  outcome: Outcome,
): Decision {
  const chance = random.next();
  try {
    return decide(attempt, outcome, chance);
  } catch (error) {
    log.error("retry.backoff failed; the job waits as exponential does", {
      job: attempt.jobId,
      kind: attempt.kind,
      error,
    });
    return decide({ ...attempt, retry: { ...attempt.retry, backoff: "exponential" } }, outcome, chance);
  }
}

const fallbackRetry = {
  maxAttempts: contractLimits.maxAttemptsDefault,
  backoff: "exponential",
  baseMs: contractLimits.retryBaseMsDefault,
  capMs: contractLimits.retryCapMsDefault,
  jitter: true,
} as const;

interface SettlerScope {
  readonly ports: SettlerPorts;
  readonly registry: Registry;
  readonly options: { readonly worker: string };
}

async function settleGroup(scope: SettlerScope, group: readonly Waiting[]): Promise<void> {
  const known = await write(scope, group);
  for (const item of group) item.done(known.has(item));
}

/** @returns those of the group that are known to be written. */
async function write(scope: SettlerScope, group: readonly Waiting[]): Promise<ReadonlySet<Waiting>> {
  const { ports } = scope;
  try {
    const once = () => writeOnce(scope, group);
    await once().catch((error: unknown) => writeWhileAway(ports, group, error, once));
    return new Set(group);
  } catch (error) {
    if (isStoreAway(error)) return new Set();
    if (group.length === 1 && group[0] !== undefined)
      return new Set((await writeAgain(scope, group[0], error)) ? group : []);
    ports.log.warn("a settle group failed; settling one by one", { jobs: group.length, error });
    const known: Waiting[] = [];
    for (const item of group) known.push(...(await write(scope, [item])));
    return new Set(known);
  }
}

/** A compare-and-set may be repeated: if the first was written, the second changes nothing. */
async function writeAgain(scope: SettlerScope, item: Waiting, first: unknown): Promise<boolean> {
  const { ports, registry } = scope;
  let error = first;
  let next = item;
  let hookFailures = 0;
  for (let round = 1; round < workerLimits.settleTriesMax; round += 1) {
    if (error instanceof HookFailed) {
      ports.log.error("onSettled failed; its job counts as failed", {
        job: item.job.jobId,
        kind: item.job.kind,
        error: error.cause,
      });
      ports.metrics.add("job.on_settled.failed", 1, "Count", { job: item.job.kind });
      hookFailures += 1;
      next = afterHookFailure(ports, registry, item, error);
    } else if (error instanceof InvalidPayload) {
      // Of a child that joins a job that waits: what `debounce.keep` made of both is known only here.
      const outcome: Outcome = { is: "permanent", code: "INVALID_PAYLOAD", message: error.message };
      next = { ...item, settlement: toSettlement(ports, registry, item.job, { outcome, children: [] }) };
    } else {
      await ports.clock.sleep(workerLimits.settleRetryMs * round);
    }
    try {
      // The hook runs at most twice; then the job is settled without it, so a broken hook cannot block the job.
      const once = () => writeOnce(scope, [next], hookFailures < 2);
      await once().catch((thrown: unknown) => writeWhileAway(ports, [next], thrown, once));
      return true;
    } catch (again) {
      error = again;
    }
  }
  ports.log.error("a settle failed; the lease decides", { job: item.job.jobId, kind: item.job.kind, error });
  return false;
}

/** A success whose hook failed becomes a failed attempt, for which the hook runs once more. */
function afterHookFailure(ports: SettlerPorts, registry: Registry, item: Waiting, error: HookFailed): Waiting {
  if (item.settlement.to !== "SUCCESS") return item;
  const message = error.cause instanceof Error ? error.cause.message : String(error.cause);
  const outcome: Outcome = { is: "retryable", code: "ON_SETTLED", message, afterMs: null };
  return { ...item, settlement: toSettlement(ports, registry, item.job, { outcome, children: [] }) };
}

async function writeOnce(scope: SettlerScope, group: readonly Waiting[], withHook = true): Promise<void> {
  const { ports, registry, options } = scope;
  const hook = withHook && group.some(({ job }) => registry.jobs.get(job.kind)?.onSettled != null);
  const isRetried = group.some(({ settlement }) => settlement.reason === reasons.retry);
  const settlements = isRetried ? await withinBudget(ports, registry, group) : group.map((item) => item.settlement);
  const settled = await ports.store.settle(settlements, {
    worker: options.worker,
    ...(hook ? { inSameTransaction: settleHook(registry, group) } : {}),
  });
  measure(ports, group, settled);
  const own = new Set(settled.settled);
  const others = group
    .map(({ job: { jobId, attempt } }) => ({ jobId, attempt }))
    .filter(({ jobId }) => !own.has(jobId));
  // A canceled attempt whose handler has returned before it heard of that keeps its slots no longer.
  const freed = others.length === 0 ? [] : [await ports.store.freeSlots(others)];
  noteConflicts(ports, settled.conflicts);
  const more = [...freed, ...group.flatMap(({ job }) => turnsAfter(registry, job.kind))];
  await afterCommit(ports, more.length === 0 ? settled.aftermath : mergeAftermaths([settled.aftermath, ...more]));
}

/** The end of such a job leaves its place to the next of its lane. */
export function turnsAfter(registry: Registry, kind: string): readonly Aftermath[] {
  const definition = registry.jobs.get(kind);
  return definition?.turns == null ? [] : [{ ...noAftermath, turns: { lanes: [definition.lane], keys: [] } }];
}

/** Distinguishes an app's own failure from the store's. */
class HookFailed extends Error {
  override readonly name = "HookFailed";
}

function settleHook(registry: Registry, group: readonly Waiting[]): InSameTransaction {
  const byId = new Map(group.map((item) => [item.job.jobId, item]));
  return async (tx, rows) => {
    for (const row of rows) {
      const settlement = byId.get(row.jobId)?.settlement;
      const outcome = settlement === undefined ? "RELEASED" : attemptOutcomeOf(settlement);
      if (outcome === "RELEASED") continue;
      try {
        await callHook(registry, row, outcome, tx);
      } catch (error) {
        throw new HookFailed(`onSettled of "${row.kind}" failed for job ${row.jobId}`, { cause: error });
      }
    }
  };
}

function measure(ports: SettlerPorts, group: readonly Waiting[], settled: Settled): void {
  const written = new Set(settled.settled);
  for (const { job, settlement } of group) {
    if (!written.has(job.jobId)) {
      ports.log.warn("the job was no longer this worker's; its outcome was refused", {
        job: job.jobId,
        attempt: job.attempt,
      });
      ports.metrics.add("job.settle.refused", 1, "Count", { job: job.kind });
      continue;
    }
    ports.metrics.add(`job.${settlement.to.toLowerCase()}`, 1, "Count", { job: job.kind });
    if (settlement.to === "FAILED" && settlement.reason === reasons.ambiguous) ports.metrics.add("job.ambiguous", 1);
    const { jobId, kind, attempt, trace } = job;
    const fields = { job: jobId, kind, attempt, trace, outcome: attemptOutcomeOf(settlement), state: settlement.to };
    if (settlement.errorCode === null) ports.log.info("job settled", fields);
    else ports.log.warn("job settled", { ...fields, code: settlement.errorCode, reason: settlement.errorMessage });
  }
}

/** Children whose key exists with another payload. Their handlers have ended, so an error cannot reach them. */
export function noteConflicts(ports: Pick<Ports, "log" | "metrics">, conflicts: number): void {
  if (conflicts === 0) return;
  ports.log.warn("children were not written: their keys exist with other payloads, and the first ones stay", {
    jobs: conflicts,
  });
  ports.metrics.add("job.child.conflicts", conflicts);
}
