import type { Registry } from "../define/definition.ts";
import type { JobId } from "../machine/job.ts";
import { taskOf } from "../machine/launcher.ts";
import { workerLimits } from "./worker-limits.ts";
import type { InSameTransaction } from "../machine/transaction.ts";
import type { Ports } from "../machine/ports.ts";

type StopPorts = Pick<Ports, "store" | "log" | "launcher">;

/** The tasks of jobs that are being canceled. */
export interface CanceledTasks {
  /** Wraps a hook of the cancel, to note which of its rows may have a task. */
  noting(hook: InSameTransaction): InSameTransaction;
  /** After each commit: stops the tasks noted since the last call. Never throws: a task that was missed ends at its next heartbeat. */
  stop(): Promise<void>;
}

/**
 * Without a stop, a canceled job's task would end within a third of its lease, if its handler listens. A stop ends it at once
 * in any case. A task that has not begun yet is refused when it does.
 */
export function canceledTasks(ports: StopPorts, registry: Registry): CanceledTasks {
  const { launcher, store, log } = ports;
  const noted: { jobId: JobId; attempt: number }[] = [];
  const stop = async ({ jobId, attempt }: { jobId: JobId; attempt: number }): Promise<void> => {
    try {
      const [row] = await store.peek([jobId]);
      // A retry since then has another worker; the canceled attempt's task then ends at its own heartbeat.
      const task = row?.attempt === attempt ? taskOf(row.worker) : null;
      if (task !== null) await launcher?.stop(task, `job ${jobId} was canceled`);
    } catch (error) {
      log.warn("the task of a canceled job was not stopped; it ends at its next heartbeat", { job: jobId, error });
    }
  };
  return {
    noting: (hook) => async (tx, rows) => {
      for (const { jobId, kind, attempt } of rows) {
        if (attempt > 0 && registry.jobs.get(kind)?.runOn === "fargate") noted.push({ jobId, attempt });
      }
      await hook(tx, rows);
    },
    async stop() {
      if (launcher === undefined) return;
      const one = async (): Promise<void> => {
        for (let next = noted.pop(); next !== undefined; next = noted.pop()) await stop(next);
      };
      await Promise.all(Array.from({ length: workerLimits.taskStopsConcurrencyMax }, one));
    },
  };
}
