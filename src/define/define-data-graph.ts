import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job } from "./context.ts";
import { graphEndFrom, graphSettings, type OfInput, outputOf, starterOf } from "./define-graph.ts";
import {
  definitionFrom,
  jobOf,
  type JobLimits,
  type NoPayload,
  type PayloadIn,
  type PayloadOut,
} from "./define-job.ts";
import type { ThenOptions } from "./continuation.ts";
import type { JobDefinition, TaskBody, TaskDefinition } from "./definition.ts";
import { PermanentError } from "./errors.ts";
import { checkGraph, type GraphTask } from "./graph-shape.ts";
import type { Json } from "../machine/job.ts";
import { joinRules, type JoinRule } from "../machine/join.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { InRun, FailurePolicy } from "../machine/run.ts";
import { describe, ProblemList } from "./problem.ts";
import { checkPayload } from "./schema.ts";
import { readChoice } from "./setting.ts";

/** One task of a graph that comes as data, for example from a JSON file. */
export interface DataTask {
  readonly name: string;
  /** Names of its predecessors. */
  readonly after?: readonly string[];
  readonly join?: JoinRule;
}

/** What a task of such a graph gets: outputs of successful predecessors, by name. */
export interface DataTaskInputs<I> {
  readonly task: string;
  readonly input: I;
  readonly outputs: Readonly<Record<string, Json>>;
}

export interface DataGraphOptions<S extends StandardSchemaV1, N = void>
  extends Omit<JobLimits<never>, "onSettled">, ThenOptions<N, OfInput<PayloadOut<S>>> {
  readonly id: string;
  readonly version: number;
  readonly input?: S;
  key?(input: PayloadOut<S>): string;
  readonly onFailure?: FailurePolicy;
  /** The tasks of one run. Invalid tasks fail the run's start finally, with every problem named. */
  graph(input: PayloadOut<S>): readonly DataTask[] | Promise<readonly DataTask[]>;
  /** Every task runs this. The limits beside it are each task's. */
  run(given: DataTaskInputs<PayloadOut<S>>, ctx: Context): Promise<Json | void> | Json | void;
  /** False: the task is SKIPPED and so is what only comes after it. */
  when?(given: DataTaskInputs<PayloadOut<S>>): boolean | Promise<boolean>;
}

/** Defines a graph whose tasks come as data, checked when a run starts: names, predecessors, size, cycles. */
export function defineDataGraph<S extends StandardSchemaV1 = NoPayload, N = void>(
  options: DataGraphOptions<S, N>,
): Job<PayloadIn<S>> {
  const problems = new ProblemList(`graph "${options.id}"`);
  const { version, onFailure } = graphSettings(problems, options);
  const check: JobDefinition["check"] = (input) => checkPayload(options.input, input);
  const task = taskOf(options, { id: options.id, check });
  // The schema has given the input its type.
  const tasksOf = (input: unknown): unknown => options.graph(input);
  const { ends, makes } = graphEndFrom(problems, options, check);
  const base = starterOf(options, { is: "dataGraph", version, onFailure, ends, task, tasksOf });
  return jobOf({
    ...base,
    problems: [...base.problems, ...problems.found, ...task.problems],
    makes: [task, ...makes],
  });
}

function taskOf<S extends StandardSchemaV1, N>(
  options: DataGraphOptions<S, N>,
  graph: TaskBody["graph"],
): TaskDefinition {
  const { id, version: _version, input: _input, key: _key, onFailure: _failure, graph: _graph, ...rest } = options;
  const { run: _run, when, then: _then, thenPayload: _payload, on: _on, ...limitsOfTask } = rest;
  const body: TaskBody = {
    is: "task",
    graph,
    given: (run, input) => ({ task: run.task ?? "", input, outputs: outputsOf(run) }),
    when: when === undefined ? null : (given) => when.call(options, given as DataTaskInputs<PayloadOut<S>>),
    run: async (given, context) => await options.run(given as DataTaskInputs<PayloadOut<S>>, context),
  };
  return {
    ...definitionFrom({ ...limitsOfTask, id: `${id}.task` }, body),
    body,
    check: async () => ({ ok: true, value: null }),
  };
}

function outputsOf(run: InRun): Readonly<Record<string, Json>> {
  const outputs = Object.keys(run.outputs).flatMap((name) => {
    const value = outputOf(run, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(outputs);
}

/**
 * Reads the tasks of a graph from unchecked data.
 * @throws PermanentError `INVALID_GRAPH` with one line for each problem.
 */
export function readGraph(id: string, tasks: unknown): readonly GraphTask[] {
  const problems = new ProblemList(`graph "${id}"`);
  if (!Array.isArray(tasks)) {
    problems.add("tasks", tasks, "must be a list of tasks", 'return [{ name: "a" }, { name: "b", after: ["a"] }]');
  }
  const read = (Array.isArray(tasks) ? tasks : []).map((task: unknown, place) => readTask(problems, task, place));
  if (problems.found.length === 0) checkGraph(problems, read);
  if (problems.found.length === 0) return read;
  const shown = problems.found.slice(0, runLimits.graphProblemsShownMax).map(describe).join("\n");
  throw new PermanentError(shown, { code: "INVALID_GRAPH" });
}

/** With a problem found, what it returns is used no further. */
function readTask(problems: ProblemList, task: unknown, place: number): GraphTask {
  // What is no object has none of these fields.
  const { name, after = [], join }: Readonly<Record<string, unknown>> = { ...(task as object) };
  if (typeof name !== "string") problems.add(`tasks.${place}.name`, name, "must be text", "name the task");
  const isList = Array.isArray(after) && after.every((one) => typeof one === "string");
  if (!isList) problems.add(`tasks.${place}.after`, after, "must be a list of task names", "name the predecessors");
  return {
    name: String(name),
    after: after as readonly string[],
    join: readChoice(problems, `tasks.${place}.join`, join, { choices: joinRules, fallback: "all" }),
  };
}
