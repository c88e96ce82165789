import type { FanOutBody, JobDefinition, Registry } from "../define/definition.ts";
import { PermanentError } from "../define/errors.ts";
import { isSealed } from "../machine/seal.ts";
import type { Json, RunId } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { newJob, slotKeysOf } from "../define/new-job.ts";
import { type Actor, type Tx } from "../machine/transaction.ts";
import { mergeAftermaths } from "../machine/outbox.ts";
import { type Ports } from "../machine/ports.ts";
import type { NewRun, Resumed, StartedRun } from "../machine/run.ts";
import { readRun, readRuns, type RunRow } from "./runs.ts";
import type { Database } from "./sql-query.ts";
import { afterCommit } from "../run/after-commit.ts";
import { type GraphDefinition, isGraph, planRun } from "../run/run-graph.ts";

type ControlPorts = Pick<Ports, "store" | "queue" | "clock" | "random" | "log" | "metrics" | "crashPoint" | "launcher">;

interface RerunPorts extends ControlPorts {
  readonly insight: Database;
}

/**
 * Continues from the failures; successes are not repeated. `newer`: by that plan of the run, if it fits.
 * @returns the jobs that run again, or why the plan does not fit.
 */
export async function resumeRun(
  ports: ControlPorts,
  runId: RunId,
  { caller, newer }: Actor & { readonly newer?: NewRun | undefined } = {},
): Promise<Omit<Resumed, "aftermath">> {
  const { aftermath, ...again } = await ports.store.resumeRun(runId, { caller, newer });
  await afterCommit(ports, aftermath);
  return again;
}

/** The run as this process defines its graph; null for a kind that is no graph of it. @throws PermanentError as `planRun`. */
export async function newerRun(
  { seals, random }: Pick<Ports, "seals" | "random">,
  registry: Registry,
  { kind, key, input }: Pick<RunRow, "kind" | "key" | "input">,
): Promise<NewRun | null> {
  const definition = registry.jobs.get(kind);
  if (definition === undefined || !isGraph(definition)) return null;
  const options = { seals, key, trace: random.id(), starterId: null, parentId: null };
  return await planRun(definition, input as Json, options).catch((error: unknown) => {
    if (!isSealed(input) || !(error instanceof PermanentError)) throw error;
    throw new PermanentError("its input is sealed, and what its tasks or times are is read from it: only workers can");
  });
}

type FanOutDefinition = JobDefinition & { readonly body: FanOutBody };

const isFanOut = (definition: JobDefinition): definition is FanOutDefinition => definition.body.is === "fanOut";

/** Whether `rerunRun` can repeat runs of this kind: graphs and fan-outs that this process defines. */
export function isRerunnable(registry: Registry, kind: string): boolean {
  const definition = registry.jobs.get(kind);
  return definition !== undefined && (isGraph(definition) || isFanOut(definition));
}

/**
 * Repeats the whole run from its input, by today's code: a new run with key `K#2` (`#3` ...), linked to the first. The input
 * of a fan-out is its occurrence: its rows are read again, and each target is a new job whose key has the same ending.
 * @throws Error when it does not exist, or when its definition is not one of this release.
 */
export async function rerunRun(
  ports: RerunPorts,
  registry: Registry,
  runId: RunId,
  options: RerunOptions = {},
): Promise<RunId> {
  const [run] = await ports.insight.run(readRun, runId);
  if (run === undefined) throw new Error(`run ${runId} does not exist: look up its id with "runs list"`);
  const definition = registry.jobs.get(run.kind);
  if (definition === undefined || !(isGraph(definition) || isFanOut(definition))) {
    throw new Error(
      `run ${runId} of "${run.kind}" cannot be run again here: only graphs and fan-outs of this release can; enqueue it again`,
    );
  }
  const root = run.key.replace(/#\d+$/, "");
  for (let number = 2; number <= contractLimits.rerunsMax; number += 1) {
    const started = await startAgain(ports, definition, run, { ...options, key: `${root}#${number}` });
    if (started === null) continue;
    await afterCommit(ports, started.aftermath);
    return started.runId;
  }
  throw new Error(`run ${runId} was run again ${contractLimits.rerunsMax} times: enqueue it under another key`);
}

interface RerunOptions {
  /** In the transaction that makes the new run. */
  readonly alsoWrites?: ((tx: Tx, made: RunId) => Promise<void>) | undefined;
}

type Started = Pick<StartedRun, "runId" | "aftermath">;

/** @returns null when a run with this key exists. */
async function startAgain(
  ports: RerunPorts,
  definition: GraphDefinition | FanOutDefinition,
  run: RunRow,
  options: RerunOptions & { readonly key: string },
): Promise<Started | null> {
  const trace = ports.random.id();
  if (!isGraph(definition)) return await writeAgain(ports, definition, run, { ...options, trace });
  const { key } = options;
  const planned = await planRun(definition, run.input as Json, {
    key,
    trace,
    starterId: null,
    parentId: run.id as RunId,
  });
  return await ports.store.transaction(async (tx) => {
    const started = await ports.store.startRun(planned, { tx });
    if (!started.created) return null;
    await options.alsoWrites?.(tx, started.runId);
    return started;
  });
}

/** Writes an open run and the job that writes its pages, in one transaction. The job finds the run by its own key. */
async function writeAgain(
  ports: RerunPorts,
  definition: FanOutDefinition,
  run: RunRow,
  { key, trace, alsoWrites }: RerunOptions & { readonly key: string; readonly trace: string },
): Promise<Started | null> {
  const { kind, version, onFailure } = run;
  const [parentId, input] = [run.id as RunId, run.input as Json];
  const { retentionMs } = definition;
  if ((await ports.insight.run(readRuns, { kinds: [kind], key, limit: 1 })).length > 0) return null;
  const slotKeys = slotKeysOf(definition);
  const job = newJob(definition, { payload: null, key, dueAt: null, delayMs: 0, trace, slotKeys });
  await ports.store.installSlots(definition.slotGroups, { onlyNew: true });
  return await ports.store.transaction(async (tx) => {
    const { results, aftermath } = await ports.store.insert([job], { tx });
    const [starter] = results;
    if (starter?.created !== true) return null;
    const again = { kind, key, version, input, onFailure, retentionMs, trace, sealed: false, shape: null, tasks: [] };
    const { ends } = definition.body;
    const started = await ports.store.startRun({ ...again, ...ends, starterId: starter.id, parentId }, { tx });
    if (!started.created) throw new Error(`run "${key}" of "${kind}" was made by another process: repeat the request`);
    await alsoWrites?.(tx, started.runId);
    return { runId: started.runId, aftermath: mergeAftermaths([aftermath, started.aftermath]) };
  });
}
