import { replacerOf } from "../admission/overlap.ts";
import type { Registry } from "../define/definition.ts";
import { reasons } from "../machine/reasons.ts";
import type { Claimed } from "../machine/store.ts";
import { afterCommit } from "./after-commit.ts";
import { canceledTasks, type CancelPorts, cancelRun } from "./cancel-run.ts";
import { movedHook } from "./settled-hook.ts";

/**
 * Under `cancel-running`: cancels what a later time of its schedule replaces, jobs and runs. That time waits for their handlers, as any
 * job for a slot. `of`: jobs that were just claimed, or all schedules of which a job waits, for claims whose process died before this.
 */
export async function replaceEarlier(
  ports: CancelPorts,
  registry: Registry,
  of: readonly Claimed[] | "all",
): Promise<Record<string, number>> {
  if (of.length === 0) return {};
  const { store } = ports;
  const keys = of === "all" ? of : [...new Set(of.flatMap((job) => job.slotKeys))];
  const replaced = await store.replaced(keys, of === "all" ? [] : of.map(({ jobId }) => jobId));
  if (replaced.length === 0) return {};
  await ports.crashPoint?.("replace.looked");
  const tasks = canceledTasks(ports, registry);
  const inSameTransaction = tasks.noting(movedHook(ports, registry, "CANCELED"));
  let canceled = 0;
  for (const { schedule, at, jobs, runs } of replaced) {
    const caller = replacerOf(schedule, at);
    // Before the job that writes its pages, whose slot would else be free while they run.
    for (const runId of runs) canceled += (await cancelRun(ports, registry, runId, { caller })) ?? 0;
    const { rows, aftermath } = await store.cancel(jobs, { caller, reason: reasons.replaced, inSameTransaction });
    await ports.crashPoint?.("replace.canceled");
    await afterCommit(ports, aftermath);
    await tasks.stop();
    canceled += rows.length;
  }
  return { "jobs.replaced": canceled };
}
