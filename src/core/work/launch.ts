import type { Outcome } from "../decide.ts";
import type { Launcher } from "../launcher.ts";
import { limits } from "../limits.ts";
import type { Claimed } from "../ports.ts";
import type { WorkerScope } from "./worker-scope.ts";

/** The launcher, for a job that runs in a task of its own and was claimed by a worker that has one; else null. */
export function launcherFor({ options, registry }: WorkerScope, job: Claimed): Launcher | null {
  const runsElsewhere = registry.jobs.get(job.kind)?.runOn === "fargate";
  return runsElsewhere ? (options.launcher ?? null) : null;
}

/**
 * Launches the task of a claimed job and lends it the lease until it had time to start. The worker keeps the lease while it
 * launches, so one that dies in between costs what any dead worker costs; a task it started by then finds itself refused.
 * @returns the outcome of a launch that was refused, which the worker writes; null when the try is the task's now.
 */
export async function launch(scope: WorkerScope, launcher: Launcher, job: Claimed): Promise<Outcome | null> {
  const { ports, options } = scope;
  const { jobId, attempt, kind } = job;
  const clientToken = `belfry-${jobId}-${attempt}`;
  try {
    await launcher.launch({ jobId, attempt, kind, worker: options.worker, clientToken });
  } catch (error) {
    ports.log.warn("a task could not be launched", { job: jobId, kind, attempt, error });
    ports.metrics.add("job.launch.failed", 1, "Count", { job: kind });
    const message = error instanceof Error ? error.message : String(error);
    return { is: "retryable", code: "LAUNCH_FAILED", message, afterMs: limits.launchRetryMs };
  }
  await ports.crashPoint("launched");
  // No heartbeat may come after the loan: it would shorten it to the lease of a job that runs already.
  scope.heart.drop(job);
  const lent = await ports.store.lend({ jobId, attempt }, { worker: options.worker, leaseMs: limits.launchLeaseMs });
  ports.log.info(lent ? "task launched" : "the task was quicker than its worker, or the job was moved", {
    job: jobId,
    kind,
    attempt,
    trace: job.trace,
  });
  return null;
}
