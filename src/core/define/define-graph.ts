import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job, SettledJob } from "./context.ts";
import { definitionFrom, jobOf, type JobLimits, type NoPayload } from "./define-job.ts";
import type { ConditionResult, JobDefinition } from "./definition.ts";
import { PermanentError } from "./errors.ts";
import { checkGraph, type GraphTask } from "./graph-shape.ts";
import { insideOf } from "../work/inside.ts";
import type { Json } from "../job/job.ts";
import type { JoinRule } from "../job/join.ts";
import { limits } from "../limits.ts";
import type { InRun, OnFailure, Tx } from "../ports/ports.ts";
import { ProblemList } from "./problem.ts";
import { failurePolicies } from "../ports/run.ts";
import { readChoice, readCount } from "./setting.ts";
import { startRunIn, taskRow } from "../work/start-run.ts";

type In<S extends StandardSchemaV1> = StandardSchemaV1.InferInput<S>;
type Out<S extends StandardSchemaV1> = StandardSchemaV1.InferOutput<S>;

declare const output: unique symbol;
declare const maybe: unique symbol;

/** A task that was declared: what a later task names as its predecessor. `M`: its branch may not be taken. */
export interface Handle<O, M extends boolean = boolean> {
  readonly name: string;
  readonly [output]: O;
  readonly [maybe]: M;
}

type After = Readonly<Record<string, Handle<unknown>>>;
type OutputOf<H> = H extends Handle<infer O> ? O : never;
type MaybeOf<H> = H extends Handle<unknown, infer M> ? M : never;
type IsOne<K, All = K> = [K] extends [never] ? false : K extends unknown ? ([All] extends [K] ? true : false) : never;

/**
 * What a task gets from its predecessors. Under `all` it is there, unless that branch may not be taken and another one was;
 * under `any` and `allDone`, and where failures are passed over, it may be missing.
 */
export type Outputs<A extends After, J extends JoinRule, F extends OnFailure> = {
  readonly [K in keyof A]: [J, F] extends ["all", "stop" | "skip-downstream"]
    ? true extends MaybeOf<A[K]>
      ? IsOne<keyof A> extends true
        ? OutputOf<A[K]>
        : OutputOf<A[K]> | undefined
      : OutputOf<A[K]>
    : OutputOf<A[K]> | undefined;
};

/** Not taken when none of its predecessors was; `allDone` always runs. */
type MaybeAfter<A extends After, J extends JoinRule> = J extends "allDone"
  ? false
  : [keyof A] extends [never]
    ? false
    : false extends MaybeOf<A[keyof A]>
      ? false
      : true;

type Given<I, A extends After, J extends JoinRule, F extends OnFailure> = { readonly input: I } & Outputs<A, J, F>;

interface TaskBase<I, A extends After, J extends JoinRule, F extends OnFailure, O> extends Omit<
  JobLimits<never>,
  "onSettled"
> {
  /** Its predecessors: each name is where their output is found. */
  readonly after?: A;
  /** `all` (default): every one succeeded. `any`: one did. `allDone`: all ended, however. */
  readonly join?: J;
  /** What it returns is handed to its successors. Throw `PermanentError` or `RetryLater` to choose what follows a failure. */
  run(given: Given<I, A, J, F>, ctx: Context): Promise<O> | O;
  /** As `onSettled` of a job, with the run's input: a task has no payload of its own. Not called for one that is SKIPPED. */
  onSettled?(input: I, settled: SettledJob, tx: Tx): Promise<void>;
}

export type TaskOptions<I, A extends After, J extends JoinRule, F extends OnFailure, O> = TaskBase<I, A, J, F, O> & {
  readonly when?: undefined;
};
export type BranchOptions<I, A extends After, J extends JoinRule, F extends OnFailure, O> = TaskBase<I, A, J, F, O> & {
  /** False: the task is SKIPPED, and so is what only comes after it. Asked before each claim, so it must only look. */
  when(given: Given<I, A, J, F>): boolean | Promise<boolean>;
};

// oxlint-disable-next-line typescript/no-generated-empty-object-type -- no predecessors is exactly that: no keys.
type NoneBefore = Readonly<Record<never, never>>;

export interface DeclareTask<I, F extends OnFailure> {
  <O extends Json | void, A extends After = NoneBefore, J extends JoinRule = "all">(
    name: string,
    options: BranchOptions<I, A, J, F, O>,
  ): Handle<O, true>;
  <O extends Json | void, A extends After = NoneBefore, J extends JoinRule = "all">(
    name: string,
    options: TaskOptions<I, A, J, F, O>,
  ): Handle<O, MaybeAfter<A, J>>;
}

export interface GraphOptions<S extends StandardSchemaV1, F extends OnFailure> {
  readonly id: string;
  /** Kept with each run: a changed graph never touches a run that has started. */
  readonly version: number;
  /** Any Standard Schema. Left out: the graph takes no input. */
  readonly input?: S;
  /** One run for each key. */
  key?(input: Out<S>): string;
  /** Default: `skip-downstream`. */
  readonly onFailure?: F;
  tasks(task: DeclareTask<Out<S>, F>): void;
}

/** A task as it was declared; the types are only at the front door. */
interface Declared {
  readonly model: GraphTask;
  readonly definition: JobDefinition;
  readonly hasCondition: boolean;
  readonly wants: (run: InRun, input: unknown) => Promise<boolean>;
}

/**
 * Defines a graph of tasks. Its job starts a run: all tasks at once, in that job's success transaction. A cycle cannot be
 * written, because a handle must exist before it is named. Nothing throws here: what is wrong is collected for `check`.
 */
export function defineGraph<S extends StandardSchemaV1 = NoPayload, F extends OnFailure = "skip-downstream">(
  options: GraphOptions<S, F>,
): Job<In<S>> {
  const problems = new ProblemList(`graph "${options.id}"`);
  const base = starterOf(options);
  const version = readCount(problems, "version", options.version, { min: 1, max: limits.runVersionMax, fallback: 1 });
  const onFailure = readChoice(problems, "onFailure", options.onFailure, failurePolicies, "skip-downstream");
  const declared = declareAll(options, base, problems);
  const tasks = [...declared.values()];
  checkGraph(
    problems,
    tasks.map((task) => task.model),
  );
  const places = new Map(tasks.map((task, place) => [task.model.name, place]));
  const definition: JobDefinition = {
    ...base,
    version,
    problems: [...(base.problems ?? []), ...problems.found, ...tasks.flatMap((task) => task.definition.problems ?? [])],
    makes: tasks.map((task) => task.definition),
    run: (_payload, context) => startRunIn(context, definition),
    condition: (run) => askTask(declared, base, run),
    plan: async (payload, { stage, ...how }) => ({
      ...how,
      kind: options.id,
      version,
      input: payload as Json,
      onFailure,
      retentionMs: base.retentionMs,
      sealed: true,
      tasks: tasks.map((task) =>
        taskRow(task.definition, stage, how.trace, {
          name: task.model.name,
          join: task.model.join,
          hasCondition: task.hasCondition,
          after: task.model.after.map((name) => places.get(name) ?? 0),
        }),
      ),
    }),
  };
  return jobOf(definition, options.input);
}

/** The job that starts the run. A run's key is its key, so its own retention is the run's. */
function starterOf<S extends StandardSchemaV1, F extends OnFailure>(options: GraphOptions<S, F>): JobDefinition {
  return definitionFrom<S>({
    id: options.id,
    ...(options.input === undefined ? {} : { payload: options.input }),
    ...(options.key === undefined ? {} : { key: (input: Out<S>) => options.key?.(input) ?? "" }),
    timeout: "5m",
    run: () => null,
  });
}

function declareAll<S extends StandardSchemaV1, F extends OnFailure>(
  options: GraphOptions<S, F>,
  base: JobDefinition,
  problems: ProblemList,
): ReadonlyMap<string, Declared> {
  const declared = new Map<string, Declared>();
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
    declared.set(name, declaredOf(base, name, task));
    return handle;
  };
  // The overloads type what a developer writes; inside, a task is plain data.
  options.tasks(declare as unknown as DeclareTask<Out<S>, F>);
  return declared;
}

interface AnyTask extends Omit<JobLimits<never>, "onSettled"> {
  readonly after?: Readonly<Record<string, { readonly name: string }>>;
  readonly join?: JoinRule;
  when?(given: unknown): boolean | Promise<boolean>;
  run(given: unknown, ctx: Context): Promise<Json | void> | Json | void;
  onSettled?(input: unknown, settled: SettledJob, tx: Tx): Promise<void>;
}

function declaredOf(graph: JobDefinition, name: string, task: AnyTask): Declared {
  const { after = {}, join = "all", when, run, onSettled, ...how } = task;
  const aliases = Object.entries(after).map(([alias, handle]) => [alias, handle.name] as const);
  const given = (from: InRun, input: unknown): unknown => ({
    ...Object.fromEntries(aliases.map(([alias, before]) => [alias, outputOf(from, before)])),
    input,
  });
  const wants = async (from: InRun, input: unknown): Promise<boolean> =>
    when === undefined || (await when.call(task, given(from, input)));
  const plain = definitionFrom({ ...how, id: `${graph.id}.${name}`, run: () => null });
  return {
    model: { name, join, after: aliases.map(([, before]) => before) },
    hasCondition: when !== undefined,
    wants,
    definition: {
      ...plain,
      check: async (payload) => ({ ok: true, value: payload }),
      onSettled: onSettled === undefined ? null : settledWith(graph, onSettled.bind(task)),
      run: async (_payload, context) => {
        const from = runOf(context, plain.id);
        const input = await checkedInput(graph, from);
        // Here a condition that throws fails the try, where people see it.
        if (!(await wants(from, input)))
          throw new PermanentError("its condition changed its mind after the claim", { code: "WHEN_CHANGED" });
        return await run.call(task, given(from, input), context);
      },
    },
  };
}

/** The hook is told the input as `run` sees it; one that does not fit its schema any more is told as it was stored. */
function settledWith(
  graph: JobDefinition,
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

/** @throws Error for a job that was enqueued by itself. */
export function runOf(context: Context, id: string): InRun {
  const { run } = insideOf(context).job;
  if (run === undefined) throw new Error(`"${id}" is a task: start its graph instead of enqueueing it by itself`);
  return run;
}

/** The run's input as its schema gives it: stored before defaults, like every payload. */
export async function checkedInput(graph: JobDefinition, run: InRun): Promise<unknown> {
  const checked = await graph.check(run.input);
  if (checked.ok) return checked.value;
  const first = checked.issues[0];
  throw new PermanentError(
    `the input of run ${run.runId} does not fit graph "${graph.id}" any more: ${first?.path ?? ""} ${first?.message ?? ""}`,
    { code: "INVALID_PAYLOAD" },
  );
}

/** A condition that throws is let through: the try that follows fails with the same error, and is retried or not. */
async function askTask(
  declared: ReadonlyMap<string, Declared>,
  graph: JobDefinition,
  run: InRun,
): Promise<ConditionResult> {
  try {
    const wanted = await declared.get(run.task ?? "")?.wants(run, await checkedInput(graph, run));
    return wanted === false ? { wanted: false, reason: "not taken", notTaken: true } : { wanted: true };
  } catch {
    return { wanted: true };
  }
}
