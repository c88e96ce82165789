import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job } from "./context.ts";
import { checkedInput, outputOf, runOf } from "./define-graph.ts";
import { definitionFrom, jobOf, type JobLimits, type NoPayload } from "./define-job.ts";
import type { ConditionResult, JobDefinition } from "./definition.ts";
import { PermanentError } from "./errors.ts";
import { checkGraph, type GraphTask } from "./graph-shape.ts";
import type { Json } from "../job/job.ts";
import { joinRules, type JoinRule } from "../job/join.ts";
import { limits } from "../limits.ts";
import type { InRun, NewTask, OnFailure } from "../ports/ports.ts";
import { describe, ProblemList } from "./problem.ts";
import { failurePolicies } from "../ports/run.ts";
import { readChoice, readCount } from "./setting.ts";
import { startRunIn, taskRow } from "../work/start-run.ts";

type In<S extends StandardSchemaV1> = StandardSchemaV1.InferInput<S>;
type Out<S extends StandardSchemaV1> = StandardSchemaV1.InferOutput<S>;

/** One task of a graph that comes as data, for example from a JSON file. */
export interface DataTask {
  readonly name: string;
  /** Names of its predecessors. */
  readonly after?: readonly string[];
  readonly join?: JoinRule;
}

/** What a task of such a graph gets: outputs by the name of the predecessor, those that succeeded. */
export interface DataGiven<I> {
  readonly task: string;
  readonly input: I;
  readonly outputs: Readonly<Record<string, Json>>;
}

export interface DataGraphOptions<S extends StandardSchemaV1> extends Omit<JobLimits<never>, "onSettled"> {
  readonly id: string;
  readonly version: number;
  readonly input?: S;
  key?(input: Out<S>): string;
  readonly onFailure?: OnFailure;
  /** The tasks of one run. What is wrong with them fails the run's start for good, with every problem named. */
  graph(input: Out<S>): readonly DataTask[] | Promise<readonly DataTask[]>;
  /** Every task runs this. The limits beside it are each task's. */
  run(given: DataGiven<Out<S>>, ctx: Context): Promise<Json | void> | Json | void;
  /** False: the task is SKIPPED and so is what only comes after it. */
  when?(given: DataGiven<Out<S>>): boolean | Promise<boolean>;
}

/** Defines a graph whose tasks come as data, checked when a run starts: names, predecessors, size, cycles. */
export function defineDataGraph<S extends StandardSchemaV1 = NoPayload>(options: DataGraphOptions<S>): Job<In<S>> {
  const problems = new ProblemList(`graph "${options.id}"`);
  const version = readCount(problems, "version", options.version, { min: 1, max: limits.runVersionMax, fallback: 1 });
  const onFailure = readChoice(problems, "onFailure", options.onFailure, failurePolicies, "skip-downstream");
  const base = definitionFrom<S>({
    id: options.id,
    ...(options.input === undefined ? {} : { payload: options.input }),
    ...(options.key === undefined ? {} : { key: (input: Out<S>) => options.key?.(input) ?? "" }),
    timeout: "5m",
    run: () => null,
  });
  const each = taskOf(options, base);
  const definition: JobDefinition = {
    ...base,
    version,
    problems: [...(base.problems ?? []), ...problems.found, ...(each.problems ?? [])],
    makes: [each],
    run: (_payload, context) => startRunIn(context, definition),
    condition: (run) => ask(options, base, run),
    async plan(payload, { stage, ...how }) {
      const checked = await base.check(payload);
      if (!checked.ok)
        throw new PermanentError(`the input does not fit graph "${options.id}"`, { code: "INVALID_PAYLOAD" });
      const tasks = readGraph(options.id, await options.graph(checked.value));
      return {
        ...how,
        kind: options.id,
        version,
        input: payload as Json,
        onFailure,
        retentionMs: base.retentionMs,
        sealed: true,
        tasks: rowsOf(each, tasks, { stage, trace: how.trace, hasCondition: options.when !== undefined }),
      };
    },
  };
  return jobOf(definition, options.input);
}

function taskOf<S extends StandardSchemaV1>(options: DataGraphOptions<S>, base: JobDefinition): JobDefinition {
  const { id, version: _version, input: _input, key: _key, onFailure: _failure, graph: _graph, ...rest } = options;
  const { run: _run, when: _when, ...how } = rest;
  return {
    ...definitionFrom({ ...how, id: `${id}.task`, run: () => null }),
    check: async () => ({ ok: true, value: null }),
    async run(_payload, context) {
      const run = runOf(context, id);
      return await options.run(await givenOf<S>(base, run), context);
    },
  };
}

async function givenOf<S extends StandardSchemaV1>(base: JobDefinition, run: InRun): Promise<DataGiven<Out<S>>> {
  const names = Object.keys(run.outputs);
  const outputs = names.flatMap((name) => {
    const value = outputOf(run, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const input = (await checkedInput(base, run)) as Out<S>;
  return { task: run.task ?? "", input, outputs: Object.fromEntries(outputs) };
}

/** A condition that throws is a try that fails: let through. */
async function ask<S extends StandardSchemaV1>(
  options: DataGraphOptions<S>,
  base: JobDefinition,
  run: InRun,
): Promise<ConditionResult> {
  try {
    if ((await options.when?.(await givenOf<S>(base, run))) !== false) return { wanted: true };
    return { wanted: false, reason: "not taken", notTaken: true };
  } catch {
    return { wanted: true };
  }
}

/**
 * Tasks of a graph that came as data, whatever it was.
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
  const shown = problems.found.slice(0, limits.graphProblemsShownMax).map(describe).join("\n");
  throw new PermanentError(shown, { code: "INVALID_GRAPH" });
}

function readTask(problems: ProblemList, task: unknown, place: number): GraphTask {
  const given: Readonly<Record<string, unknown>> = typeof task === "object" && task !== null ? { ...task } : {};
  const { name, after = [], join } = given;
  if (typeof name !== "string") problems.add(`tasks.${place}.name`, name, "must be text", "name the task");
  const isList = Array.isArray(after) && after.every((one) => typeof one === "string");
  if (!isList) problems.add(`tasks.${place}.after`, after, "must be a list of task names", "name the predecessors");
  return {
    name: String(name),
    after: isList ? after : [],
    join: readChoice(problems, `tasks.${place}.join`, join, joinRules, "all"),
  };
}

function rowsOf(
  each: JobDefinition,
  tasks: readonly GraphTask[],
  how: { stage: string; trace: string; hasCondition: boolean },
): readonly NewTask[] {
  const places = new Map(tasks.map((task, place) => [task.name, place]));
  return tasks.map(({ name, after, join }) =>
    taskRow(each, how.stage, how.trace, {
      name,
      join,
      hasCondition: how.hasCondition,
      after: after.map((before) => places.get(before) ?? 0),
    }),
  );
}
