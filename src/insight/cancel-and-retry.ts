import type { Registry } from "../define/definition.ts";
import type { JobId } from "../machine/job.ts";
import { type Actor } from "../machine/transaction.ts";
import { mergeAftermaths } from "../machine/outbox.ts";
import { type Ports } from "../machine/ports.ts";
import { type Store } from "../machine/store.ts";
import { afterCommit } from "../run/after-commit.ts";
import { movedHook } from "../run/settled-hook.ts";
import { canceledTasks } from "../run/cancel-run.ts";

type ControlPorts = Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint" | "launcher">;

/**
 * Cancels jobs that are not final. A running handler is aborted at its worker's next heartbeat, and a task is stopped; the
 * job keeps its slots until its handler has ended. `caller` stands in their history. @returns the ids that were canceled.
 */
export async function cancelJobs(
  ports: ControlPorts,
  registry: Registry,
  ids: readonly JobId[],
  { caller }: Actor = {},
): Promise<readonly JobId[]> {
  const tasks = canceledTasks(ports, registry);
  const inSameTransaction = tasks.noting(movedHook(ports, registry, "CANCELED"));
  const moved = await ports.store.cancel(ids, { caller, inSameTransaction });
  await afterCommit(ports, moved.aftermath);
  await tasks.stop();
  return moved.rows.map((row) => row.jobId);
}

/** FAILED, CANCELED and SKIPPED jobs run again, due now, with the same id and history. @returns the ids that will. */
export async function retryJobs(
  ports: ControlPorts,
  ids: readonly JobId[],
  { caller }: Actor = {},
): Promise<readonly JobId[]> {
  const retried = [...(await retryInRuns(ports, ids, caller)), await ports.store.retry(ids, { caller })];
  await afterCommit(ports, mergeAftermaths(retried.map(({ aftermath }) => aftermath)));
  return retried.flatMap((part) => part.ids);
}

type Retried = Awaited<ReturnType<Store["retry"]>>;

/** With a job of a run, the jobs that were skipped because of it run again. */
async function retryInRuns(
  ports: ControlPorts,
  ids: readonly JobId[],
  caller: Actor["caller"],
): Promise<readonly Retried[]> {
  const retried: Retried[] = [];
  const byRun = Map.groupBy(await ports.store.inRuns(ids), ([, run]) => run.runId);
  for (const [runId, members] of byRun) {
    retried.push(await ports.store.resumeRun(runId, { ids: members.map(([id]) => id), caller }));
  }
  return retried;
}
