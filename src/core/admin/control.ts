import type { Registry } from "../define/definition.ts";
import type { JobId } from "../job/job.ts";
import type { Ports } from "../ports/ports.ts";
import { relay, wakeHeld } from "../delivery/relay.ts";
import { sendOutbox } from "../delivery/send.ts";
import { movedHook } from "../delivery/settled-hook.ts";
import { canceledTasks } from "../work/stop-tasks.ts";

type ControlPorts = Pick<Ports, "store" | "queue" | "log" | "metrics" | "crashPoint" | "launcher">;

/**
 * Cancels jobs that are not final. A running handler is told at its worker's next heartbeat, and a task is stopped; its slot
 * stays taken until it is really gone. @returns the ids that were canceled.
 */
export async function cancelJobs(
  ports: ControlPorts,
  registry: Registry,
  ids: readonly JobId[],
): Promise<readonly JobId[]> {
  const tasks = canceledTasks(ports, registry);
  const moved = await ports.store.cancel(ids, tasks.noting(movedHook(ports, registry, "canceled")));
  await wakeHeld(ports, { slotKeys: moved.freed });
  await sendOutbox(ports, moved.outbox);
  await tasks.stop();
  return moved.rows.map((row) => row.jobId);
}

/** FAILED, CANCELED and SKIPPED jobs run again, due now, same id and history. @returns the ids that will. */
export async function retryJobs(
  ports: ControlPorts,
  ids: readonly JobId[],
  options: { dispatchWindowMs: number },
): Promise<readonly JobId[]> {
  const retried = [...(await retryInRuns(ports, ids)), ...(await ports.store.retry(ids))];
  if (retried.length > 0) await relay(ports, options);
  return retried;
}

/** A job of a run takes along what was skipped because of it. */
async function retryInRuns(ports: ControlPorts, ids: readonly JobId[]): Promise<readonly JobId[]> {
  const retried: JobId[] = [];
  const byRun = Map.groupBy(await ports.store.inRuns(ids), ([, run]) => run.runId);
  for (const [runId, members] of byRun) {
    retried.push(...(await ports.store.resumeRun(runId, { ids: members.map(([id]) => id) })));
  }
  return retried;
}
