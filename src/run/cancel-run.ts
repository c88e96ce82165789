import type { JobId, RunId } from "../machine/job.ts";
import type { Registry } from "../define/definition.ts";
import { afterCommit } from "./after-commit.ts";
import { movedHook } from "./settled-hook.ts";
import { runLimits } from "../machine/run-limits.ts";
import { type Aftermath, mergeAftermaths, noAftermath } from "../machine/outbox.ts";
import type { Actor, InSameTransaction } from "../machine/transaction.ts";
import type { Ports } from "../machine/ports.ts";
import { taskOf } from "../machine/launcher.ts";
import { workerLimits } from "./worker-limits.ts";

export type CancelPorts = Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint" | "launcher">;

/**
 * Cancels a run and its open jobs: first the run, so that nothing is added or claimed any more, then its jobs in pages. It is
 * CANCELING until the last page, then CANCELED. A second call continues.
 * @returns how many jobs were canceled, or null for a run that has ended or does not exist.
 */
export async function cancelRun(
  ports: CancelPorts,
  registry: Registry,
  runId: RunId,
  { caller, roundsMax = runLimits.cancelRoundsMax }: Actor & { readonly roundsMax?: number } = {},
): Promise<number | null> {
  if (!(await ports.store.cancelRun(runId, { caller }))) return null;
  const tasks = canceledTasks(ports, registry);
  const inSameTransaction = tasks.noting(movedHook(ports, registry, "CANCELED"));
  let canceled = 0;
  let left: Aftermath = { ...noAftermath, runs: [runId] };
  for (let round = 0; round < roundsMax; round += 1) {
    const page = await ports.store.cancelPage(runId, { limit: runLimits.cancelRowsMax, inSameTransaction });
    if (page.isEmpty) break;
    canceled += page.canceled;
    left = mergeAftermaths([left, page.aftermath]);
    await tasks.stop();
  }
  await afterCommit(ports, left, runLimits.passResolveRoundsMax);
  return canceled;
}

/**
 * Continues cancels whose process died between two pages: their runs would otherwise stay open for ever and keep their slots.
 * It is safe beside a process that is still canceling, because each job is canceled only once.
 */
export async function finishCancels(
  ports: CancelPorts,
  registry: Registry,
  options: {
    readonly signal: AbortSignal;
    readonly only?: { readonly withdrawn: string };
  },
): Promise<Record<string, number>> {
  let canceled = 0;
  for (const runId of await ports.store.cancelingRuns(runLimits.cancelingRunsMax, options.only)) {
    if (options.signal.aborted) break;
    canceled += (await cancelRun(ports, registry, runId)) ?? 0;
  }
  return { "jobs.canceled": canceled };
}

type StopPorts = Pick<Ports, "store" | "log" | "launcher">;

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
