import { reasons } from "../machine/reasons.ts";
import { backoffMs } from "../machine/backoff.ts";
import type { Outcome } from "../machine/decide.ts";
import type { Launched, Launcher } from "../machine/launcher.ts";
import { workerLimits } from "./worker-limits.ts";
import type { Claimed } from "../machine/store.ts";
import type { WorkerScope } from "./worker-scope.ts";

/**
 * Launches the task of a claimed job and extends the lease until the task had time to start. The worker keeps the lease during
 * the launch: if it dies, the job is rescued as usual, and a task that it had started is refused.
 * @returns the outcome of a refused launch, for the worker to write; null when the task has the attempt.
 */
export async function launch(scope: WorkerScope, launcher: Launcher, job: Claimed): Promise<Outcome | null> {
  const { ports, options } = scope;
  const { jobId, attempt, kind } = job;
  if (!(await scope.launches.acquire())) return noRoom(scope, job, "too many tasks wait to be launched");
  if (scope.stopping.aborted) return { is: "released", reason: reasons.stopped };
  let launched: Launched;
  try {
    launched = await launcher.launch(launchOf(scope, job));
  } catch (error) {
    ports.log.warn("a task could not be launched", { job: jobId, kind, attempt, error });
    ports.metrics.add("job.launch.failed", 1, "Count", { job: kind });
    const message = error instanceof Error ? error.message : String(error);
    return { is: "retryable", code: "LAUNCH_FAILED", message, afterMs: workerLimits.launchRetryMs };
  }
  if (launched.is === "no-room") return noRoom(scope, job, launched.reason);
  await ports.crashPoint?.("launched");
  // No heartbeat may follow the extension: it would shorten it to the lease of a running job.
  scope.leases.drop(job);
  const lent = await ports.store.extendLease(
    { jobId, attempt },
    { worker: options.worker, leaseMs: workerLimits.launchLeaseMs },
  );
  ports.log.info(lent ? "task launched" : "the task was quicker than its worker, or the job was moved", {
    job: jobId,
    kind,
    attempt,
    task: launched.task,
    trace: job.trace,
  });
  return null;
}

const launchOf = ({ options, registry }: WorkerScope, { jobId, attempt, kind, trace }: Claimed) => ({
  jobId,
  attempt,
  kind,
  worker: options.worker,
  clientToken: tokenOf({ jobId, attempt, trace }),
  size: registry.jobs.get(kind)?.size ?? null,
});

/**
 * ECS remembers a token for a day. The trace makes it unique when a new database uses the same job id.
 */
const tokenOf = ({ jobId, attempt, trace }: Pick<Claimed, "jobId" | "attempt" | "trace">): string =>
  `${jobId}-${attempt}-${trace.replaceAll(/[^\w-]/g, "").slice(0, traceCharactersMax)}`;

const traceCharactersMax = 32;

function noRoom({ ports }: WorkerScope, job: Claimed, reason: string): Outcome {
  ports.log.info("there is no room for a task now; its job waits", { job: job.jobId, kind: job.kind, reason });
  ports.metrics.add("job.launch.postponed", 1, "Count", { job: job.kind });
  const before = Math.max(0, job.attempt - 1 - job.failures - job.interruptions);
  return {
    is: "postponed",
    code: "NO_ROOM",
    message: reason,
    afterMs: launchWaitMs(before, ports.random.next()),
    counted: false,
  };
}

/** Milliseconds until the next launch, after `before` failed ones. */
export const launchWaitMs = (before: number, chance: number): number =>
  backoffMs(
    {
      backoff: "exponential",
      baseMs: workerLimits.launchWaitMs,
      capMs: workerLimits.launchWaitMsMax,
      jitter: true,
    },
    before,
    chance,
  );
