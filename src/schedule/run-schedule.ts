/** The task of a schedule with its own rule: takes the schedule's lock, writes the occurrence, runs its job. */
import type { Registry } from "../define/definition.ts";
import { plannedOf } from "./fire.ts";
import type { JobId } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { PassOptions } from "./pass.ts";
import { passLimits } from "./pass-limits.ts";
import { encodeMessage } from "../run/message.ts";
import { acquire } from "./acquire.ts";
import { planNext } from "./plan.ts";
import { type Fence, FenceLost } from "../machine/fence.ts";
import { type OutboxBatch } from "../machine/outbox.ts";
import { type Ports } from "../machine/ports.ts";
import { scheduleLimits, type ScheduleRow } from "../machine/schedule.ts";
import { definitionOfKind } from "./schedule-refused.ts";
import type { State } from "../machine/state.ts";
import { timetable, tzProblem } from "../calendar/timetable.ts";
import { createWorker, stoppedBy, type Worker } from "../run/worker.ts";

export interface RunScheduleOptions extends Omit<PassOptions, "untilMs"> {
  readonly stage: string;
  readonly id: string;
}

export interface RunScheduleReport {
  /** `nothing-due`: the wake matched no nominal time, or one that is already decided. */
  readonly outcome: "done" | "nothing-due" | "disabled" | "unknown" | "held" | "fence-lost" | "lock-outage";
  readonly heldBy: string | null;
  /** Rows written, of every outcome. */
  readonly occurrences: number;
  /** The jobs of this task and their present states. */
  readonly jobs: readonly { readonly id: JobId; readonly state: State }[];
}

export const scheduleLock = (id: string): string => `belfry:schedule:${id}`;

/**
 * One wake of one schedule. It writes the same row and job as a tick would, so the later of the two finds the time decided.
 * If this task dies before its claim, the next pass sends the open outbox batch to the lane.
 */
export async function runSchedule(
  ports: Ports,
  registry: Registry,
  options: RunScheduleOptions,
): Promise<RunScheduleReport> {
  const job = registry.schedules.get(options.id)?.job.id;
  const lockName = scheduleLock(options.id);
  const got = await acquire(ports, { ...options, lockName, job });
  if (!("lock" in got)) return { ...noFires, outcome: got.outcome, heldBy: got.heldBy };
  try {
    return await runUnderLock(ports, registry, options, got.fence);
  } catch (error) {
    if (!(error instanceof FenceLost)) throw error;
    ports.log.warn("another task holds the schedule's lock now; stopping", { schedule: options.id });
    return { ...noFires, outcome: "fence-lost" };
  } finally {
    await got.lock.release();
    ports.metrics.flush();
  }
}

const noFires = { heldBy: null, occurrences: 0, jobs: [] } as const;

async function runUnderLock(
  ports: Ports,
  registry: Registry,
  options: RunScheduleOptions,
  fence: Fence,
): Promise<RunScheduleReport> {
  const row = await rowOnTime(ports, options);
  if (row === null) return { ...noFires, outcome: "unknown" };
  if (!row.spec.enabled) return { ...noFires, outcome: "disabled" };
  const { occurrences, outbox } = await decide(ports, registry, row, { ...options, fence });
  if (outbox.length === 0) return { ...noFires, occurrences, outcome: occurrences === 0 ? "nothing-due" : "done" };
  const jobs = await work(ports, registry, outbox, options);
  return { outcome: "done", heldBy: null, occurrences, jobs };
}

/** The clocks of rule and database may differ: a wake that is a little early waits for its time. */
async function rowOnTime({ store, clock }: Ports, { id, signal }: RunScheduleOptions): Promise<ScheduleRow | null> {
  const facts = await store.scheduleFacts(id);
  if (facts === null || facts.row === null || !facts.row.spec.enabled) return facts?.row ?? null;
  const { row, now } = facts;
  const next = timetable(row.spec).next(row.decidedUntil);
  if (next === null || next.instant <= now || next.instant - now > scheduleLimits.ruleEarlyMs) return row;
  await clock.sleep(next.instant - now + 1, signal);
  return (await store.scheduleFacts(id))?.row ?? null;
}

type FencedOptions = RunScheduleOptions & { readonly fence: Fence };

/**
 * Decides all undecided times up to now by the schedule's policies, one page for each version. It tries again while another
 * session holds the schedule. The tick decides what does not fit.
 */
async function decide(
  ports: Ports,
  registry: Registry,
  row: ScheduleRow,
  options: FencedOptions,
): Promise<{ occurrences: number; outbox: readonly OutboxBatch[] }> {
  const older = tzProblem(row.spec);
  if (older !== null) throw new Error(`schedule "${row.id}": ${older}`);
  definitionOfKind(registry, row.spec.job.kind);
  let occurrences = 0;
  const outbox: OutboxBatch[] = [];
  let current: ScheduleRow | null = row;
  for (let round = 0; round < passLimits.tickRoundsMax && current !== null; round += 1) {
    const page = await decidePage(ports, registry, current, options);
    occurrences += page.occurrences;
    outbox.push(...page.outbox);
    if (page.isPassed) await ports.clock.sleep(passLimits.passIntervalMs, options.signal);
    current = page.isComplete ? null : ((await ports.store.scheduleFacts(row.id))?.row ?? null);
  }
  return { occurrences, outbox };
}

interface Page {
  readonly occurrences: number;
  readonly outbox: readonly OutboxBatch[];
  readonly isComplete: boolean;
  /** Another session holds the schedule, or it has changed: nothing was written. */
  readonly isPassed: boolean;
}

async function decidePage(ports: Ports, registry: Registry, row: ScheduleRow, { fence }: FencedOptions): Promise<Page> {
  const now = await ports.store.now();
  const dueNow: ScheduleRow = { ...row, spec: { ...row.spec, launch: "tick", materializeBeforeMs: 0 } };
  const { row: decider, plan } = await planNext(ports.store, dueNow, {
    now,
    dispatchWindowMs: 0,
    timesMax: passLimits.tickRowsMax,
  });
  if (plan.decisions.length === 0 && plan.isComplete)
    return { occurrences: 0, outbox: [], isComplete: true, isPassed: false };
  const { planned } = await plannedOf(ports, { row, decider, plan }, registry);
  const nextAt = planned.nextAt === null ? null : planned.nextAt + scheduleLimits.ruleGraceMs;
  await ports.crashPoint?.("tick.beforeCommit");
  const written = await ports.store.plan([{ ...planned, nextAt }], { dispatchWindowMs: 0, fence });
  await ports.crashPoint?.("tick.afterCommit");
  const isPassed = written.passed.length > 0;
  return {
    occurrences: written.occurrences,
    outbox: written.aftermath.outbox,
    isComplete: plan.isComplete && !isPassed,
    isPassed,
  };
}

/** Runs the jobs as a worker of the lane would, without the queue: the unsent message is the claim's. */
async function work(
  ports: Ports,
  registry: Registry,
  outbox: readonly OutboxBatch[],
  options: RunScheduleOptions,
): Promise<RunScheduleReport["jobs"]> {
  const own = `schedule:${options.id}@${options.owner}:${ports.random.id().slice(0, 8)}`;
  for (const batch of outbox) {
    const worker = createWorker(ports, registry, {
      worker: own,
      lane: batch.lane,
      stage: options.stage,
    });
    const failed = await handle(worker, batch, options.signal);
    // A job that could not be claimed keeps its message: the next pass sends it to the lane.
    await ports.store.confirm([{ id: batch.id, failed }]);
  }
  const ids = outbox.flatMap((batch) => batch.messages.map((message) => message.jobId));
  return (await ports.store.peek(ids)).map(({ jobId, state }) => ({ id: jobId, state }));
}

/** @returns the jobs that it gave back. */
async function handle(worker: Worker, { messages }: OutboxBatch, signal: AbortSignal): Promise<readonly JobId[]> {
  const records = messages.map((message) => ({ messageId: message.jobId, body: encodeMessage(message) }));
  const remainingMs = () => contractLimits.fargateTimeoutMsMax;
  const { failed } = await stoppedBy(signal, worker, () => worker.handle(records, { remainingMs }));
  return messages.flatMap(({ jobId }) => (failed.includes(jobId) ? [jobId] : []));
}
