import type { RunId } from "../machine/job.ts";
import type { Registry } from "../define/definition.ts";
import { afterCommit } from "./after-commit.ts";
import { movedHook } from "./settled-hook.ts";
import { runLimits } from "../machine/run-limits.ts";
import { type Aftermath, mergeAftermaths, noAftermath } from "../machine/aftermath.ts";
import { type Actor } from "../machine/transaction.ts";
import { type Ports } from "../machine/ports.ts";
import { canceledTasks } from "./stop-tasks.ts";

type CancelPorts = Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint" | "launcher">;

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
