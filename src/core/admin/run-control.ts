import type { JobDefinition, Registry } from "../define/definition.ts";
import type { JobId } from "../job/job.ts";
import { limits } from "../limits.ts";
import { newJob, slotGroupsOf, slotKeysOf } from "../define/new-job.ts";
import type { Ports, RunId, RunView, StartedRun } from "../ports/ports.ts";
import { relay } from "../delivery/relay.ts";
import { resolveRuns } from "../delivery/resolve.ts";
import { sendOutbox } from "../delivery/send.ts";
import { movedHook } from "../delivery/settled-hook.ts";
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
  options: { dispatchWindowMs: number },
): Promise<number | null> {
  if (!(await ports.store.cancelRun(runId))) return null;
  const tasks = canceledTasks(ports, registry);
  const inSameTransaction = tasks.noting(movedHook(ports, registry, "canceled"));
  let canceled = 0;
  for (let round = 0; round < limits.cancelRoundsMax; round += 1) {
    const page = await ports.store.cancelPage(runId, { limit: limits.cancelRowsMax, inSameTransaction });
    if (page === 0) break;
    canceled += page;
    await tasks.stop();
  }
  await resolveRuns(ports, { runs: [runId], rounds: limits.passResolveRoundsMax, ...options });
  return canceled;
}

/**
 * Goes on with cancels whose process died between two pages: else their run would stay open for ever, with the slots it
 * holds. Beside a process that still writes its pages this only helps: a job is canceled once, whoever does it.
 */
export async function finishCancels(
  ports: ControlPorts,
  registry: Registry,
  options: {
    readonly dispatchWindowMs: number;
    readonly signal: AbortSignal;
    readonly only?: { readonly withdrawn: string };
  },
): Promise<Record<string, number>> {
  let canceled = 0;
  for (const runId of await ports.store.cancelingRuns(limits.cancelingRunsMax, options.only)) {
    if (options.signal.aborted) break;
    canceled += (await cancelRun(ports, registry, runId, options)) ?? 0;
  }
  return { "jobs.canceled": canceled };
}

/** Goes on from the failure: what succeeded is not repeated. @returns the jobs that run again. */
export async function resumeRun(
  ports: ControlPorts,
  runId: RunId,
  options: { dispatchWindowMs: number },
): Promise<readonly JobId[]> {
  const again = await ports.store.resumeRun(runId, {});
  if (again.length > 0) await relay(ports, options);
  return again;
}

/** Whether `rerunRun` can do runs of this kind again: those of graphs and fan-outs that this process defines. */
export function isRerunnable(registry: Registry, kind: string): boolean {
  const definition = registry.jobs.get(kind);
  return definition?.plan !== undefined || definition?.writesPages === true;
}

/**
 * The whole run again, from its input and by the code of today: a new run with key `K#2` (`#3` ...), linked to the first.
 * Of a fan-out the input is its occurrence: its rows are read anew, and each target is a new job whose key ends alike.
 * @throws Error when it does not exist, or when its definition is not one of this release.
 */
export async function rerunRun(
  ports: ControlPorts,
  registry: Registry,
  runId: RunId,
  options: RerunOptions,
): Promise<RunId> {
  const run = await ports.store.run(runId);
  if (run === null) throw new Error(`run ${runId} does not exist: look up its id with "runs list"`);
  const definition = registry.jobs.get(run.kind);
  if (definition === undefined || !isRerunnable(registry, run.kind)) {
    throw new Error(
      `run ${runId} of "${run.kind}" cannot be run again here: only graphs and fan-outs of this release can; enqueue it anew`,
    );
  }
  const root = run.key.replace(/#\d+$/, "");
  const { dispatchWindowMs } = options;
  for (let number = 2; number <= limits.rerunsMax; number += 1) {
    const started = await startAgain(ports, definition, run, `${root}#${number}`, options);
    if (started === null) continue;
    await sendOutbox(ports, started.outbox);
    await resolveRuns(ports, { runs: [started.runId], rounds: 1, dispatchWindowMs });
    return started.runId;
  }
  throw new Error(`run ${runId} was run again ${limits.rerunsMax} times: enqueue it under another key`);
}

interface RerunOptions {
  readonly stage: string;
  readonly dispatchWindowMs: number;
}

type Started = Pick<StartedRun, "runId" | "outbox">;

/** @returns null when there is a run of this key already. */
async function startAgain(
  ports: ControlPorts,
  definition: JobDefinition,
  run: RunView,
  key: string,
  options: RerunOptions,
): Promise<Started | null> {
  const trace = ports.random.id();
  if (definition.plan === undefined) return await writeAgain(ports, definition, run, { key, trace, ...options });
  const { stage, dispatchWindowMs } = options;
  const planned = await definition.plan(run.input, { stage, key, trace, starterId: null, parentId: run.id });
  const started = await ports.store.startRun(planned, { dispatchWindowMs });
  return started.created ? started : null;
}

/** An open run and the job that writes its pages, both or neither: that job finds the run by its own key. */
async function writeAgain(
  ports: ControlPorts,
  definition: JobDefinition,
  { id, kind, version, input, onFailure }: RunView,
  { key, trace, stage, dispatchWindowMs }: RerunOptions & { readonly key: string; readonly trace: string },
): Promise<Started | null> {
  const { retentionMs } = definition;
  if ((await ports.store.runs({ kind, key, limit: 1 })).length > 0) return null;
  const slotKeys = slotKeysOf(definition);
  const job = newJob(definition, stage, { payload: null, key, dueAt: null, delayMs: 0, trace, slotKeys });
  await ports.store.installSlots(slotGroupsOf(definition));
  return await ports.store.transaction(async (tx) => {
    const { results, outbox } = await ports.store.insert([job], { dispatchWindowMs, tx });
    const [starter] = results;
    if (starter?.created !== true) return null;
    const again = { kind, key, version, input, onFailure, retentionMs, trace, sealed: false, tasks: [] };
    const started = await ports.store.startRun(
      { ...again, starterId: starter.id, parentId: id },
      { dispatchWindowMs, tx },
    );
    if (!started.created) throw new Error(`run "${key}" of "${kind}" was made meanwhile: ask again`);
    return { runId: started.runId, outbox };
  });
}
