import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job } from "./context.ts";
import { graphFrom, type OfInput } from "./define-graph.ts";
import type { NoPayload, PayloadIn, PayloadOut, TaskLimits } from "./define-job.ts";
import type { ThenOptions } from "./continuation.ts";
import type { DataGraphBody, JobDefinition, TaskBody, TaskDefinition } from "./definition.ts";
import { InvalidPayload, PermanentError } from "./errors.ts";
import { checkGraph, type GraphTask, readJoin } from "./graph-shape.ts";
import { outputOf, taskFrom } from "./graph-task.ts";
import type { Json } from "../machine/job.ts";
import type { JoinRule } from "../machine/join.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { InRun, FailurePolicy } from "../machine/run.ts";
import { describe, ProblemList } from "./problem.ts";
import { checkedJson, checkPayload } from "./payload.ts";

/** One task of a graph that comes as data, for example from a JSON file. */
export interface DataTask<P = void> {
  readonly name: string;
  /** Its own, kept with its job: a later version of the data never reaches a run that has begun. */
  readonly payload?: P;
  /** Names of its predecessors. */
  readonly after?: readonly string[];
  readonly join?: JoinRule;
}

/** What a task of such a graph gets: outputs of successful predecessors, by name. */
export interface DataTaskInputs<I, P = void> {
  readonly task: string;
  readonly payload: P;
  readonly input: I;
  readonly outputs: Readonly<Record<string, Json>>;
}

export interface DataGraphOptions<S extends StandardSchemaV1, P extends StandardSchemaV1, N = void>
  extends TaskLimits, ThenOptions<N, OfInput<PayloadOut<S>>> {
  readonly id: string;
  readonly version: number;
  readonly input?: S;
  key?(input: PayloadOut<S>): string;
  /** The payload of each task. Left out: tasks have none. */
  readonly taskPayload?: P;
  readonly onFailure?: FailurePolicy;
  /** As of a graph; for the payloads of its tasks too. */
  readonly seal?: string;
  /** The tasks of one run. Invalid tasks fail the run's start finally, with every problem named. */
  graph(input: PayloadOut<S>): readonly DataTask<PayloadIn<P>>[] | Promise<readonly DataTask<PayloadIn<P>>[]>;
  /** Every task runs this. The limits beside it are each task's. */
  run(given: DataTaskInputs<PayloadOut<S>, PayloadOut<P>>, ctx: Context): Promise<Json | void> | Json | void;
  /** False: the task is SKIPPED and so is what only comes after it. */
  when?(given: DataTaskInputs<PayloadOut<S>, PayloadOut<P>>): boolean | Promise<boolean>;
}

export interface DataGraphJob<I> extends Job<I> {
  /**
   * Reads the tasks that a run of this input would have, for a caller who wants to know before it enqueues. Writes nothing.
   * @throws InvalidPayload as `enqueue`; PermanentError as the run's start would fail: `INVALID_GRAPH` with every problem.
   */
  checkTasks(input: I): Promise<{ readonly tasks: number }>;
}

/** Defines a graph whose tasks come as data, checked when a run starts: names, predecessors, size, cycles. */
export function defineDataGraph<
  S extends StandardSchemaV1 = NoPayload,
  P extends StandardSchemaV1 = NoPayload,
  N = void,
>(options: DataGraphOptions<S, P, N>): DataGraphJob<PayloadIn<S>> {
  const { base, body, job } = graphFrom(options, (_, graph) => {
    const task = taskOfData(options, graph);
    // The schema has given the input its type.
    return { own: { is: "dataGraph", task, tasksOf: (input) => options.graph(input) }, made: [task] };
  });
  return Object.assign(job, {
    checkTasks: async (input: PayloadIn<S>) => {
      const payload = checkedJson(options.id, input);
      const checked = await base.check(payload);
      if (!checked.ok) throw new InvalidPayload(options.id, checked.issues);
      const tasks = await tasksOfRun({ ...base, body }, payload);
      return { tasks: tasks.length };
    },
  });
}

function taskOfData<S extends StandardSchemaV1, P extends StandardSchemaV1, N>(
  options: DataGraphOptions<S, P, N>,
  graph: TaskBody["graph"],
): TaskDefinition {
  type Given = DataTaskInputs<PayloadOut<S>, PayloadOut<P>>;
  // These are the run's own, or are read above; of the rest a definition reads the limits alone.
  const { key: _key, onSettled: _settled, when, taskPayload, ...limits } = options;
  const definition = taskFrom(graph, "task", limits, {
    given: (run, input, payload) => ({ task: run.task ?? "", payload, input, outputs: outputsOf(run) }),
    when: when === undefined ? null : (given) => when.call(options, given as Given),
    run: async (given, context) => await options.run(given as Given, context),
  });
  return { ...definition, check: (payload) => checkPayload(taskPayload, payload) };
}

function outputsOf(run: InRun): Readonly<Record<string, Json>> {
  const outputs = Object.keys(run.outputs).flatMap((name) => {
    const value = outputOf(run, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(outputs);
}

/**
 * The tasks of the run that an input starts, from unchecked data.
 * @throws PermanentError for an input that does not fit; `INVALID_GRAPH` with one line for each problem of the tasks.
 */
export async function tasksOfRun(
  { id, check, body }: Pick<JobDefinition, "id" | "check"> & { readonly body: DataGraphBody },
  input: unknown,
): Promise<readonly GraphTask[]> {
  const checked = await check(input);
  if (!checked.ok) throw new PermanentError(`the input does not fit graph "${id}"`, { code: "INVALID_PAYLOAD" });
  const tasks = readGraph(id, await body.tasksOf(checked.value));
  const problems = new ProblemList(`graph "${id}"`);
  for (const [place, { payload = null }] of tasks.entries()) {
    const fits = await body.task.check(payload);
    for (const { path, message } of fits.ok ? [] : fits.issues)
      problems.add(`tasks.${place}.payload${path === "" ? "" : `.${path}`}`, payload, message, "see its taskPayload");
  }
  refuse(problems);
  return tasks;
}

/** @throws PermanentError `INVALID_GRAPH`: a name, a predecessor, a size, a cycle. */
export function readGraph(id: string, tasks: unknown): readonly GraphTask[] {
  const problems = new ProblemList(`graph "${id}"`);
  if (!Array.isArray(tasks)) {
    problems.add("tasks", tasks, "must be a list of tasks", 'return [{ name: "a" }, { name: "b", after: ["a"] }]');
  }
  const read = (Array.isArray(tasks) ? tasks : []).map((task: unknown, place) => readTask(problems, task, place));
  if (problems.found.length === 0) checkGraph(problems, read);
  refuse(problems);
  return read;
}

function refuse(problems: ProblemList): void {
  if (problems.found.length === 0) return;
  const shown = problems.found.slice(0, runLimits.graphProblemsShownMax).map(describe).join("\n");
  throw new PermanentError(shown, { code: "INVALID_GRAPH" });
}

/** With a problem found, what it returns is used no further. */
function readTask(problems: ProblemList, task: unknown, place: number): GraphTask {
  // What is no object has none of these fields.
  const { name, after = [], join, payload }: Readonly<Record<string, unknown>> = { ...(task as object) };
  if (typeof name !== "string") problems.add(`tasks.${place}.name`, name, "must be text", "name the task");
  const isList = Array.isArray(after) && after.every((one) => typeof one === "string");
  if (!isList) problems.add(`tasks.${place}.after`, after, "must be a list of task names", "name the predecessors");
  return {
    name: String(name),
    after: after as readonly string[],
    payload: readPayload(problems, `tasks.${place}.payload`, payload),
    join: readJoin(problems, `tasks.${place}.join`, join, after),
  };
}

function readPayload(problems: ProblemList, path: string, payload: unknown): Json {
  try {
    return checkedJson(path, payload);
  } catch (error) {
    problems.add(path, payload, error instanceof Error ? error.message : String(error), "");
    return null;
  }
}
