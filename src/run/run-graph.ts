import type { Context } from "../define/context.ts";
import { tasksOfRun } from "../define/define-data-graph.ts";
import type {
  DataGraphBody,
  GraphBody,
  GraphTaskDefinition,
  JobDefinition,
  Registry,
  TaskBody,
  TaskDefinition,
} from "../define/definition.ts";
import { PermanentError } from "../define/errors.ts";
import { shapeHash } from "../define/graph-shape.ts";
import { newJob, slotKeysOf } from "../define/new-job.ts";
import type { Instant, Json } from "../machine/job.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { type Seals, sealValue } from "../machine/seal.ts";
import type { InRun, NewRun, NewTask } from "../machine/run.ts";
import type { InvocationScope } from "./invocation-scope.ts";

export interface RunPlanOptions extends Pick<NewRun, "key" | "trace" | "starterId" | "parentId"> {
  readonly seals?: Seals | undefined;
}

/** A definition whose job starts a run of tasks. */
export type GraphDefinition = JobDefinition & { readonly body: GraphBody | DataGraphBody };

export const isGraph = (definition: JobDefinition): definition is GraphDefinition =>
  definition.body.is === "graph" || definition.body.is === "dataGraph";

/** The graph that a kind is a task of; null for a kind that a job of its own can run. */
export function graphOf({ jobs }: Registry, kind: string): string | null {
  for (const definition of jobs.values()) {
    if (isGraph(definition) && definition.makes?.some((made) => made.id === kind) === true) return definition.id;
  }
  return null;
}

/** Starts the planned run in this job's own success transaction: both happen, or neither. */
export async function startGraph(scope: InvocationScope, context: Context): Promise<void> {
  const { job, worker, definition } = scope;
  if (!isGraph(definition)) throw new TypeError(`"${definition.id}" does not plan runs`);
  const run = await planRun(definition, job.payload, {
    seals: worker.ports.seals,
    key: job.key ?? `job:${job.jobId}`,
    trace: job.trace,
    starterId: job.jobId,
    parentId: null,
  });
  await context.tx(async (tx) => {
    const started = await worker.ports.store.startRun(run, { tx });
    scope.left.push(started.aftermath);
    return { runId: started.runId, tasks: run.tasks.length };
  });
}

/** The run of an input, all of its tasks. A rerun's input may be sealed: then it is only passed on. @throws PermanentError for an input or tasks that cannot be run. */
export async function planRun(
  definition: GraphDefinition,
  input: Json,
  { seals, ...options }: RunPlanOptions,
): Promise<NewRun> {
  const { version, onFailure, ends } = definition.body;
  const tasks = await tasksOf(definition, input);
  const keep = (value: Json) =>
    definition.seal === null ? value : sealValue(seals, definition.seal, value, contractLimits.payloadBytesMax);
  return {
    ...options,
    kind: definition.id,
    version,
    input: await keep(input),
    onFailure,
    ...ends,
    retentionMs: definition.retentionMs,
    sealed: true,
    shape: shapeHash(tasks),
    tasks: await rowsOf(tasks, { trace: options.trace, dueAt: await dueTimesOf(tasks, input), keep }),
  };
}

interface RowOptions {
  readonly trace: string;
  /** By the name of the task. */
  readonly dueAt: ReadonlyMap<string, Instant>;
  /** A payload as it is stored. */
  readonly keep: (payload: Json) => Json | Promise<Json>;
}

async function tasksOf({ body, ...graph }: GraphDefinition, input: Json): Promise<readonly GraphTaskDefinition[]> {
  if (body.is === "graph") return body.tasks;
  const tasks = await tasksOfRun({ ...graph, body }, input);
  return tasks.map((task) => ({ ...task, definition: body.task }));
}

/** The times that tasks wait for, by the run's input. @throws PermanentError for one that is no time. */
async function dueTimesOf(tasks: readonly GraphTaskDefinition[], input: Json): Promise<ReadonlyMap<string, Instant>> {
  const times = new Map<string, Instant>();
  for (const { name, definition } of tasks) {
    const { wait, graph } = definition.body;
    if (wait === null || wait.until === null) continue;
    const checked = await graph.check(input);
    if (!checked.ok)
      throw new PermanentError(`the input does not fit graph "${graph.id}"`, { code: "INVALID_PAYLOAD" });
    times.set(name, wait.until(checked.value).getTime());
  }
  return times;
}

async function rowsOf(tasks: readonly GraphTaskDefinition[], options: RowOptions): Promise<readonly NewTask[]> {
  const places = new Map(tasks.map((task, place) => [task.name, place]));
  const rows = tasks.map(async ({ name, join, after, payload = null, definition }) => ({
    wait: definition.body.wait,
    task: name,
    join,
    after: after.map((one) => places.get(one) ?? 0),
    hasCondition: definition.body.when !== null,
    job: rowOf(definition, await options.keep(payload), {
      trace: options.trace,
      dueAt: options.dueAt.get(name) ?? null,
    }),
  }));
  return await Promise.all(rows);
}

/** The row of one task. Its input is the run's; its own payload is that of data. */
const rowOf = (
  definition: JobDefinition,
  payload: Json,
  { trace, dueAt }: { readonly trace: string; readonly dueAt: Instant | null },
): NewTask["job"] =>
  newJob(definition, {
    payload,
    key: null,
    dueAt,
    delayMs: 0,
    trace,
    slotKeys: slotKeysOf(definition),
  });

/** What a task of a run is called with now. @throws Error for a job that belongs to no run. */
export async function readyGiven({ job, definition }: InvocationScope, body: TaskBody): Promise<unknown> {
  const { run } = job;
  if (run === undefined) {
    throw new Error(`"${job.kind}" is a task: start its graph instead of enqueueing it by itself`);
  }
  const given = await givenOf({ body, check: definition.check }, run);
  // A condition that throws here fails the attempt visibly.
  if (body.when !== null && !(await body.when(given))) {
    throw new PermanentError("its condition changed its mind after the claim", { code: "WHEN_CHANGED" });
  }
  return given;
}

/** Whether a task's branch is taken. A condition that throws says yes: the attempt then fails with the same error. */
export async function isTaken({ body }: GraphDefinition, run: InRun): Promise<boolean> {
  const task = body.is === "graph" ? body.tasks.find(({ name }) => name === run.task)?.definition : body.task;
  if (task === undefined || task.body.when === null) return true;
  try {
    return await task.body.when(await givenOf(task, run));
  } catch {
    return true;
  }
}

/** @throws PermanentError when the run's input, or the task's payload, does not fit its schema any more. */
async function givenOf({ body, check }: Pick<TaskDefinition, "body" | "check">, run: InRun): Promise<unknown> {
  const { graph, given } = body;
  const [input, payload] = [await graph.check(run.input), await check(run.payload)];
  if (input.ok && payload.ok) return given(run, input.value, payload.value);
  const what = input.ok ? `the payload of task ${run.task ?? ""}` : "the input";
  const [first] = [input, payload].flatMap((checked) => (checked.ok ? [] : checked.issues));
  throw new PermanentError(
    `${what} of run ${run.runId} does not fit graph "${graph.id}" any more: ${first?.path ?? ""} ${first?.message ?? ""}`,
    { code: "INVALID_PAYLOAD" },
  );
}
