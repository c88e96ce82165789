import type { Registry } from "../definitions/definition.ts";
import type { JobId } from "../job.ts";
import { limits } from "../limits.ts";
import type { Ports, RunId } from "../ports.ts";
import { relay } from "../relay.ts";
import { resolveRuns } from "./resolve.ts";
import { sendHandoffs } from "../send.ts";
import { movedHook } from "../work/settled-hook.ts";
import { canceledTasks } from "../work/stop-tasks.ts";

type ControlPorts = Pick<Ports, "store" | "queue" | "random" | "log" | "metrics" | "crashPoint" | "launcher">;

/**
 * Cancels a run and everything of it that is open, the run first, so that nothing is added or claimed meanwhile, then its
 * jobs in pages. It is CANCELED only after the last page; before that it is CANCELING, and calling again goes on.
 * @returns how many jobs were canceled, or null for a run that has ended or does not exist.
 */
export async function cancelRun(
  ports: ControlPorts,
  registry: Registry,
  runId: RunId,
  options: { lookAheadMs: number },
): Promise<number | null> {
  if (!(await ports.store.cancelRun(runId))) return null;
  const tasks = canceledTasks(ports, registry);
  const inSameTransaction = tasks.noting(movedHook(ports, registry, "canceled"));
  let canceled = 0;
  for (let round = 0; round < limits.cancelRoundsMax; round += 1) {
    const page = await ports.store.cancelPage(runId, { limit: limits.cancelRowsMax, inSameTransaction });
    if (page === 0) break;
    canceled += page;
  }
  await tasks.stop();
  await resolveRuns(ports, { runs: [runId], rounds: limits.passResolveRoundsMax, ...options });
  return canceled;
}

/** Goes on from the failure: what succeeded is not repeated. @returns the jobs that run again. */
export async function resumeRun(
  ports: ControlPorts,
  runId: RunId,
  options: { lookAheadMs: number },
): Promise<readonly JobId[]> {
  const again = await ports.store.resumeRun(runId, {});
  if (again.length > 0) await relay(ports, options);
  return again;
}

/**
 * The whole run again, from its input and by the code of today: a new run with key `K#2` (`#3` ...), linked to the first.
 * @throws Error when it does not exist, or when its definition is not a graph of this release.
 */
export async function rerunRun(
  ports: ControlPorts,
  registry: Registry,
  runId: RunId,
  options: { stage: string; lookAheadMs: number },
): Promise<RunId> {
  const run = await ports.store.run(runId);
  if (run === null) throw new Error(`run ${runId} does not exist: look up its id with "runs list"`);
  const plan = registry.jobs.get(run.kind)?.plan;
  if (plan === undefined) {
    throw new Error(
      `run ${runId} of "${run.kind}" cannot be run again here: only graphs of this release can; enqueue it anew`,
    );
  }
  const root = run.key.replace(/#\d+$/, "");
  const { stage, lookAheadMs } = options;
  for (let number = 2; number <= limits.rerunsMax; number += 1) {
    const trace = ports.random.id();
    const planned = await plan(run.input, { stage, key: `${root}#${number}`, trace, starterId: null, parentId: runId });
    const started = await ports.store.startRun(planned, { lookAheadMs });
    if (!started.created) continue;
    await sendHandoffs(ports, started.handoffs);
    await resolveRuns(ports, { runs: [started.runId], rounds: 1, lookAheadMs });
    return started.runId;
  }
  throw new Error(`run ${runId} was run again ${limits.rerunsMax} times: enqueue it under another key`);
}
