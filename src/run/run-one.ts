import { runHandler, type HandlerEnd } from "./handler.ts";
import { launch } from "./launch.ts";
import { workerLimits } from "./worker-limits.ts";
import type { Claimed } from "../machine/store.ts";
import type { Launcher } from "../machine/launcher.ts";
import { orWarn } from "../machine/or-warn.ts";
import { afterCommit } from "./after-commit.ts";
import { attemptSpan, settleSpan } from "./spans.ts";
import type { WorkerScope } from "./worker-scope.ts";

export interface Ended {
  readonly jobId: string;
  /** False when it is unknown whether its outcome was written. */
  readonly known: boolean;
}

export interface RunOptions {
  /** No other job runs beside it in this process. */
  readonly alone: boolean;
  readonly remainingMs: () => number;
}

/** Runs and settles one claimed job. A bug in Belfry leaves the job to its lease and must not fail the batch. */
export async function runOne(scope: WorkerScope, job: Claimed, options: RunOptions): Promise<Ended> {
  const handled = async (): Promise<HandlerEnd> => {
    const { launcher } = scope.ports;
    if (launcher !== undefined && scope.registry.jobs.get(job.kind)?.runOn === "fargate")
      return await launched(scope, launcher, job);
    const finished = await runHandler(scope, job, options.remainingMs);
    scope.circuits?.count(job, finished);
    return finished;
  };
  return await attemptSpan(scope.ports.tracing, job, () => endOne(scope, job, options, handled));
}

export async function endOne(
  scope: WorkerScope,
  job: Claimed,
  { alone, remainingMs }: RunOptions,
  handled: () => Promise<HandlerEnd>,
): Promise<Ended> {
  try {
    const finished = await handled();
    if (finished.is === "outcome" && finished.hadNoFiles === true) {
      scope.spend();
      // Another job of the batch may have used them up: as a job that lost its process, it then runs alone.
      if (!alone) return { jobId: job.jobId, known: await scope.settler.withdraw() };
    }
    if (finished.is === "outcome") await scope.leases.flush(job);
    return { jobId: job.jobId, known: await write(scope, job, finished, remainingMs) };
  } catch (error) {
    scope.ports.log.error("a job could not be run; its lease decides", { job: job.jobId, kind: job.kind, error });
    return { jobId: job.jobId, known: await scope.settler.withdraw() };
  } finally {
    scope.leases.drop(job);
  }
}

async function launched(scope: WorkerScope, launcher: Launcher, job: Claimed): Promise<HandlerEnd> {
  const refused = await launch(scope, launcher, job);
  return refused === null ? { is: "written-elsewhere" } : { is: "outcome", outcome: refused, children: [] };
}

async function write(
  scope: WorkerScope,
  job: Claimed,
  finished: HandlerEnd,
  remainingMs: () => number,
): Promise<boolean> {
  if (finished.is === "written-elsewhere") return scope.settler.withdraw();
  if (finished.is === "lost") {
    await scope.settler.withdraw();
    // One that ignores its signal may go on beside the next: its slots are free when its lease would have ended.
    return finished.goesOn === true ? true : freeSlots(scope, job);
  }
  const leftMs = Math.min(remainingMs() - workerLimits.settleMarginMs, workerLimits.settleForMsMax);
  const { clock, tracing } = scope.ports;
  const untilMs = clock.elapsedMs() + leftMs;
  const { outcome, children } = finished;
  return settleSpan(tracing, outcome, () => scope.settler.settle(job, outcome, { children, untilMs }));
}

/** The handler of an attempt that was canceled or lost has ended, so the slots of that attempt are free. A later attempt keeps its own. */
async function freeSlots(scope: WorkerScope, job: Claimed): Promise<boolean> {
  if (job.slotKeys.length === 0) return true;
  const { ports } = scope;
  const { jobId, attempt } = job;
  const free = async () => afterCommit(ports, await ports.store.freeSlots([{ jobId, attempt }]));
  await orWarn(ports.log, free, "slots were not freed; they end with the lease", { job: jobId });
  return true;
}
