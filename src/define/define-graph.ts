import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job, SettledJob } from "./context.ts";
import {
  definitionFrom,
  jobWith,
  type NoPayload,
  type PayloadIn,
  type PayloadOut,
  type TaskLimits,
} from "./define-job.ts";
import { continuationFrom, type ThenOptions } from "./continuation.ts";
import { PermanentError } from "./errors.ts";
import type {
  AnyGraphBody,
  DataGraphBody,
  GraphBody,
  GraphTaskDefinition,
  JobDefinition,
  TaskBody,
} from "./definition.ts";
import { checkGraph } from "./graph-shape.ts";
import { type EachEnd, type AnyEach, type EachOptions, eachTaskOf } from "./each-task.ts";
import { type AnyTask, graphTaskOf } from "./graph-task.ts";
import type { Json } from "../machine/job.ts";
import type { JoinRule } from "../machine/join.ts";
import { type FailurePolicy, failurePolicies } from "../machine/run.ts";
import type { Tx } from "../machine/transaction.ts";
import { ProblemList } from "./problem.ts";
import { type SleepOptions, sleepTaskOf, type TimeoutRule, type WaitForOptions, waitTaskOf } from "./wait-task.ts";
import { checkPayload } from "./payload.ts";
import { contractRange, present, readChoice, readCount } from "./setting.ts";
import type { MaybeAfter, NoneBefore, TaskHandle, TaskInputs, TasksBefore } from "./task-handle.ts";

interface TaskBase<I, A extends TasksBefore, J extends JoinRule, F extends FailurePolicy, O> extends TaskLimits {
  /** Its predecessors: each name is where their output is found. */
  readonly after?: A;
  /** `all` (default): every one succeeded. `any`: one did. `{ atLeast: n }`: n of them did. `allDone`: all ended in any way. */
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

export interface DeclareTask<I, F extends FailurePolicy> {
  <O extends Json | void, A extends TasksBefore = NoneBefore, J extends JoinRule = "all">(
    name: string,
    options: BranchOptions<I, A, J, F, O>,
  ): TaskHandle<O, true>;
  <O extends Json | void, A extends TasksBefore = NoneBefore, J extends JoinRule = "all">(
    name: string,
    options: TaskOptions<I, A, J, F, O>,
  ): TaskHandle<O, MaybeAfter<A, J>>;
  /** Waits for a signal of its name; its output is the payload of the first one. */
  waitFor<
    S extends StandardSchemaV1 = NoPayload,
    A extends TasksBefore = NoneBefore,
    J extends JoinRule = "all",
    T extends TimeoutRule = "fail",
  >(
    name: string,
    options: WaitForOptions<A, J, S, T>,
  ): TaskHandle<T extends "fail" ? PayloadOut<S> : PayloadOut<S> | undefined, MaybeAfter<A, J>>;
  /** One job for each row; its output is what `fold` makes of theirs, or their figures. It succeeds as `tolerate` says. */
  each<
    R,
    O extends Json | void,
    T extends Json = EachEnd & Readonly<Record<string, Json>>,
    A extends TasksBefore = NoneBefore,
    J extends JoinRule = "all",
  >(
    name: string,
    options: EachOptions<I, A, J, F, R, O, T>,
  ): TaskHandle<T, MaybeAfter<A, J>>;
  /** Waits so long, or until a time. */
  sleepUntil<A extends TasksBefore = NoneBefore, J extends JoinRule = "all">(
    name: string,
    options: SleepOptions<I, A, J>,
  ): TaskHandle<void, MaybeAfter<A, J>>;
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
  /** As of a job: for its input, the outputs of its tasks and the rows of `each`. */
  readonly seal?: string;
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
  return graphFrom(options, (problems, graph) => {
    const tasks = declareAll(options, graph, problems);
    checkGraph(problems, tasks);
    return { own: { is: "graph", tasks }, made: tasks.map((task) => task.definition) };
  }).job;
}

/** What both forms of a graph have. */
interface GraphHead<S extends StandardSchemaV1, N> extends ThenOptions<N, OfInput<PayloadOut<S>>> {
  readonly id: string;
  readonly version: number;
  readonly input?: S;
  readonly onFailure?: FailurePolicy;
  readonly seal?: string;
  key?(input: PayloadOut<S>): string;
}

type OwnBody = Pick<GraphBody, "is" | "tasks"> | Pick<DataGraphBody, "is" | "task" | "tasksOf">;

/**
 * The job that starts a run. A run's key is its key, so its own retention is the run's. The run tolerates by its `onFailure`; a job may follow it.
 * `tasksFrom`: what its body has of its own, and the definitions of its tasks.
 */
export function graphFrom<S extends StandardSchemaV1, N, Own extends OwnBody>(
  options: GraphHead<S, N>,
  tasksFrom: (problems: ProblemList, graph: TaskBody["graph"]) => { own: Own; made: readonly JobDefinition[] },
): {
  readonly base: JobDefinition;
  readonly body: Own & AnyGraphBody;
  readonly job: Job<PayloadIn<S>>;
} {
  const { id, input, key, seal } = options;
  const problems = new ProblemList(`graph "${id}"`);
  const version = readCount(problems, "version", options.version, { ...contractRange("runVersion"), fallback: 1 });
  const policy = { choices: failurePolicies, fallback: "skip-downstream" } as const;
  const onFailure = readChoice(problems, "onFailure", options.onFailure, policy);
  const check: JobDefinition["check"] = (given) => checkPayload(input, given);
  const { own, made } = tasksFrom(problems, { id, check, seal });
  const { continuation, makes } = continuationFrom(problems, options, async (given) => {
    const checked = await check(given);
    if (checked.ok) return { input: checked.value as PayloadOut<S> };
    throw new PermanentError(`the input does not fit graph "${id}" any more`, { code: "INVALID_PAYLOAD" });
  });
  const body = { ...own, version, onFailure, ends: { tolerate: 0, continuation } };
  const base = definitionFrom<S>({ id, payload: input, key, timeout: "5m", ...present({ seal }) }, body);
  return { base, body, job: jobWith<PayloadIn<S>>(base, problems, { makes: [...made, ...makes] }) };
}

function declareAll<S extends StandardSchemaV1, F extends FailurePolicy, N>(
  options: GraphOptions<S, F, N>,
  graph: TaskBody["graph"],
  problems: ProblemList,
): readonly GraphTaskDefinition[] {
  const declared = new Map<string, GraphTaskDefinition>();
  const handles = new Set<unknown>();
  const declare = <T extends Pick<AnyTask, "after">>(
    name: string,
    task: T,
    of: (graph: TaskBody["graph"], name: string, task: T) => GraphTaskDefinition,
  ): { readonly name: string } => {
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
    declared.set(name, of(graph, name, task));
    return handle;
  };
  // The overloads type what a developer writes; inside, a task is plain data.
  const plain = (name: string, task: AnyTask) => declare(name, task, graphTaskOf);
  const others = {
    each: (name: string, task: AnyEach) => declare(name, task, eachTaskOf),
    waitFor: (name: string, task: AnyTask) => declare(name, task, waitTaskOf),
    sleepUntil: (name: string, task: AnyTask) => declare(name, task, sleepTaskOf),
  };
  options.tasks(Object.assign(plain, others) as unknown as DeclareTask<PayloadOut<S>, F>);
  return [...declared.values()];
}
