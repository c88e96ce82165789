import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job, SettledJob } from "./context.ts";
import {
  definitionFrom,
  jobOf,
  type NoPayload,
  type PayloadIn,
  type PayloadOut,
  type TaskLimits,
} from "./define-job.ts";
import { continuationFrom, type ThenOptions } from "./continuation.ts";
import { PermanentError } from "./errors.ts";
import type { DataGraphBody, GraphBody, GraphTaskDefinition, JobDefinition, RunEnds, TaskBody } from "./definition.ts";
import { checkGraph } from "./graph-shape.ts";
import type { Json } from "../machine/job.ts";
import type { JoinRule } from "../machine/join.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { type InRun, type FailurePolicy, failurePolicies } from "../machine/run.ts";
import type { Tx } from "../machine/transaction.ts";
import { ProblemList } from "./problem.ts";
import { checkPayload } from "./schema.ts";
import { readChoice, readCount } from "./setting.ts";

declare const output: unique symbol;
declare const maybe: unique symbol;

/** A declared task, which a later task names as its predecessor. `M`: its branch may not be taken. */
export interface TaskHandle<O, M extends boolean = boolean> {
  readonly name: string;
  readonly [output]: O;
  readonly [maybe]: M;
}

/** The tasks before one, each under the name by which it finds their output. */
export type TasksBefore = Readonly<Record<string, TaskHandle<unknown>>>;
type OutputOf<H> = H extends TaskHandle<infer O> ? O : never;
type MaybeOf<H> = H extends TaskHandle<unknown, infer M> ? M : never;
type IsOne<K, All = K> = [K] extends [never] ? false : K extends unknown ? ([All] extends [K] ? true : false) : never;

/**
 * What a task gets from its predecessors. Under `all` it is there, unless that branch may not be taken and another one was;
 * under `any` and `allDone`, and where failures are passed over, it may be missing.
 */
export type TaskOutputs<A extends TasksBefore, J extends JoinRule, F extends FailurePolicy> = {
  readonly [K in keyof A]: [J, F] extends ["all", "stop" | "skip-downstream"]
    ? true extends MaybeOf<A[K]>
      ? IsOne<keyof A> extends true
        ? OutputOf<A[K]>
        : OutputOf<A[K]> | undefined
      : OutputOf<A[K]>
    : OutputOf<A[K]> | undefined;
};

/** Not taken when none of its predecessors was; `allDone` always runs. */
type MaybeAfter<A extends TasksBefore, J extends JoinRule> = J extends "allDone"
  ? false
  : [keyof A] extends [never]
    ? false
    : false extends MaybeOf<A[keyof A]>
      ? false
      : true;

/** What a task is called with: the run's input and, by name, what its predecessors returned. */
export type TaskInputs<I, A extends TasksBefore, J extends JoinRule, F extends FailurePolicy> = {
  readonly input: I;
} & TaskOutputs<A, J, F>;

interface TaskBase<I, A extends TasksBefore, J extends JoinRule, F extends FailurePolicy, O> extends TaskLimits {
  /** Its predecessors: each name is where their output is found. */
  readonly after?: A;
  /** `all` (default): every one succeeded. `any`: one did. `allDone`: all ended in any way. */
  readonly join?: J;
  /** What it returns is handed to its successors. Throw `PermanentError` or `RetryLater` to choose what follows a failure. */
  run(given: TaskInputs<I, A, J, F>, ctx: Context): Promise<O> | O;
  /** As `onSettled` of a job, with the run's input: a task has no payload of its own. Not called for one that is SKIPPED. */
  onSettled?(input: I, settled: SettledJob, tx: Tx): Promise<void>;
}

export type TaskOptions<I, A extends TasksBefore, J extends JoinRule, F extends FailurePolicy, O> = TaskBase<
  I,
  A,
  J,
  F,
  O
> & {
  readonly when?: undefined;
};
export type BranchOptions<I, A extends TasksBefore, J extends JoinRule, F extends FailurePolicy, O> = TaskBase<
  I,
  A,
  J,
  F,
  O
> & {
  /** False: the task is SKIPPED, and so is what only comes after it. Evaluated before each claim, so it must only read. */
  when(given: TaskInputs<I, A, J, F>): boolean | Promise<boolean>;
};

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- no predecessors is exactly that: no keys.
type NoneBefore = Readonly<Record<never, never>>;

export interface DeclareTask<I, F extends FailurePolicy> {
  <O extends Json | void, A extends TasksBefore = NoneBefore, J extends JoinRule = "all">(
    name: string,
    options: BranchOptions<I, A, J, F, O>,
  ): TaskHandle<O, true>;
  <O extends Json | void, A extends TasksBefore = NoneBefore, J extends JoinRule = "all">(
    name: string,
    options: TaskOptions<I, A, J, F, O>,
  ): TaskHandle<O, MaybeAfter<A, J>>;
}

/** What the run was started with. */
export interface OfInput<I> {
  readonly input: I;
}

export interface GraphOptions<S extends StandardSchemaV1, F extends FailurePolicy, N = void> extends ThenOptions<
  N,
  OfInput<PayloadOut<S>>
> {
  readonly id: string;
  /** Kept with each run: a changed graph never touches a run that has started. */
  readonly version: number;
  /** Any Standard Schema. Left out: the graph takes no input. */
  readonly input?: S;
  /** One run for each key. */
  key?(input: PayloadOut<S>): string;
  /** Default: `skip-downstream`. */
  readonly onFailure?: F;
  tasks(task: DeclareTask<PayloadOut<S>, F>): void;
}

/**
 * Defines a graph of tasks. Its job starts a run: all tasks at once, in that job's success transaction. A cycle cannot be
 * written, because a handle must exist before it is named. Never throws: problems are collected for `check`.
 */
export function defineGraph<
  S extends StandardSchemaV1 = NoPayload,
  F extends FailurePolicy = "skip-downstream",
  N = void,
>(options: GraphOptions<S, F, N>): Job<PayloadIn<S>> {
  const problems = new ProblemList(`graph "${options.id}"`);
  const { version, onFailure } = graphSettings(problems, options);
  const check: JobDefinition["check"] = (input) => checkPayload(options.input, input);
  const tasks = declareAll(options, { id: options.id, check }, problems);
  checkGraph(problems, tasks);
  const { ends, makes } = graphEndFrom(problems, options, check);
  const base = starterOf(options, { is: "graph", version, onFailure, ends, tasks });
  return jobOf({
    ...base,
    problems: [...base.problems, ...problems.found, ...tasks.flatMap((task) => task.definition.problems)],
    makes: [...tasks.map((task) => task.definition), ...makes],
  });
}

export const graphSettings = (
  problems: ProblemList,
  options: { readonly version: number; readonly onFailure?: FailurePolicy },
): { version: number; onFailure: FailurePolicy } => ({
  version: readCount(problems, "version", options.version, { min: 1, max: contractLimits.runVersionMax, fallback: 1 }),
  onFailure: readChoice(problems, "onFailure", options.onFailure, {
    choices: failurePolicies,
    fallback: "skip-downstream",
  }),
});

/** A graph tolerates by its `onFailure`; a job may follow it. */
export function graphEndFrom<S extends StandardSchemaV1, N>(
  problems: ProblemList,
  options: ThenOptions<N, OfInput<PayloadOut<S>>> & { readonly id: string; readonly input?: S },
  check: JobDefinition["check"],
): { readonly ends: RunEnds; readonly makes: readonly JobDefinition[] } {
  const { continuation, makes } = continuationFrom(problems, options, async (input) => {
    const checked = await check(input);
    if (checked.ok) return { input: checked.value as PayloadOut<S> };
    throw new PermanentError(`the input does not fit graph "${options.id}" any more`, { code: "INVALID_PAYLOAD" });
  });
  return { ends: { tolerate: 0, continuation }, makes };
}

/** The job that starts a run. A run's key is its key, so its own retention is the run's. */
export function starterOf<S extends StandardSchemaV1>(
  { id, input, key }: { readonly id: string; readonly input?: S; key?(input: PayloadOut<S>): string },
  body: GraphBody | DataGraphBody,
): JobDefinition {
  return definitionFrom<S>({ id, payload: input, key, timeout: "5m" }, body);
}

function declareAll<S extends StandardSchemaV1, F extends FailurePolicy, N>(
  options: GraphOptions<S, F, N>,
  graph: TaskBody["graph"],
  problems: ProblemList,
): readonly GraphTaskDefinition[] {
  const declared = new Map<string, GraphTaskDefinition>();
  const handles = new Set<unknown>();
  const declare = (name: string, task: AnyTask): { readonly name: string } => {
    const handle = { name };
    if (declared.has(name)) problems.add(`task "${name}"`, name, "is declared twice", "rename one of them");
    for (const [alias, before] of Object.entries(task.after ?? {})) {
      if (!handles.has(before)) {
        problems.add(
          `task "${name}" after.${alias}`,
          before,
          "is not a task of this graph",
          "declare it before this one",
        );
      }
      if (alias === "input") problems.add(`task "${name}" after`, alias, "hides the run's input", "use another name");
    }
    handles.add(handle);
    declared.set(name, taskOf(graph, name, task));
    return handle;
  };
  // The overloads type what a developer writes; inside, a task is plain data.
  options.tasks(declare as unknown as DeclareTask<PayloadOut<S>, F>);
  return [...declared.values()];
}

interface AnyTask extends TaskLimits {
  readonly after?: Readonly<Record<string, { readonly name: string }>>;
  readonly join?: JoinRule;
  when?(given: unknown): boolean | Promise<boolean>;
  run(given: unknown, ctx: Context): Promise<Json | void> | Json | void;
  onSettled?(input: unknown, settled: SettledJob, tx: Tx): Promise<void>;
}

function taskOf(graph: TaskBody["graph"], name: string, task: AnyTask): GraphTaskDefinition {
  const { after = {}, join = "all", when, run, onSettled, ...options } = task;
  const aliases = Object.entries(after).map(([alias, handle]) => [alias, handle.name] as const);
  const body: TaskBody = {
    is: "task",
    graph,
    given: (from, input) => ({
      ...Object.fromEntries(aliases.map(([alias, before]) => [alias, outputOf(from, before)])),
      input,
    }),
    when: when === undefined ? null : (given) => when.call(task, given),
    run: async (given, context) => await run.call(task, given, context),
  };
  return {
    name,
    join,
    after: aliases.map(([, before]) => before),
    definition: {
      ...definitionFrom({ ...options, id: `${graph.id}.${name}` }, body),
      body,
      check: async (payload) => ({ ok: true, value: payload }),
      onSettled: onSettled === undefined ? null : settledWith(graph, onSettled.bind(task)),
    },
  };
}

/** The hook gets the input as `run` does, or the stored form if it no longer fits its schema. */
function settledWith(
  graph: TaskBody["graph"],
  hook: NonNullable<AnyTask["onSettled"]>,
): NonNullable<JobDefinition["onSettled"]> {
  return async (input, settled, tx) => {
    const checked = await graph.check(input);
    await hook(checked.ok ? checked.value : input, settled, tx);
  };
}

/** What a predecessor that succeeded left; `undefined` for any other end. */
export const outputOf = (run: InRun, name: string): Json | undefined => {
  const before = run.outputs[name];
  return before?.state === "SUCCESS" ? before.result : undefined;
};
