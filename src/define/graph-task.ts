/** A task of a graph, from what its author wrote: plain data, whose types the overloads of `defineGraph` have checked. */
import type { Context, SettledJob } from "./context.ts";
import { definitionFrom, type TaskLimits } from "./define-job.ts";
import type { GraphTaskDefinition, JobDefinition, TaskBody, TaskDefinition } from "./definition.ts";
import type { Json } from "../machine/job.ts";
import type { JoinRule } from "../machine/join.ts";
import type { InRun } from "../machine/run.ts";
import { sealOf } from "./sealed-by.ts";
import type { Tx } from "../machine/transaction.ts";

export interface AnyTask extends TaskLimits {
  readonly after?: Readonly<Record<string, { readonly name: string }>>;
  readonly join?: JoinRule;
  when?(given: unknown): boolean | Promise<boolean>;
  run(given: unknown, ctx: Context): Promise<Json | void> | Json | void;
  onSettled?(input: unknown, settled: SettledJob, tx: Tx): Promise<void>;
}

/** What runs a task, and the limits beside it. It waits for nothing and is one job, unless `own` says otherwise. */
export function taskFrom(
  graph: TaskBody["graph"],
  name: string,
  options: Omit<Parameters<typeof definitionFrom>[0], "id">,
  own: Pick<TaskBody, "given" | "run"> & Partial<TaskBody>,
): TaskDefinition {
  const body: TaskBody = { is: "task", graph, when: null, wait: null, each: null, ...own };
  return { ...definitionFrom({ ...options, ...sealOf(graph), id: `${graph.id}.${name}` }, body), body };
}

export function graphTaskOf(
  graph: TaskBody["graph"],
  name: string,
  task: AnyTask,
  each: TaskBody["each"] = null,
): GraphTaskDefinition {
  const { after = {}, join = "all", when, run, onSettled, ...options } = task;
  const aliases = Object.entries(after).map(([alias, handle]) => [alias, handle.name] as const);
  const definition = taskFrom(graph, name, options, {
    given: (from, input) => ({
      ...Object.fromEntries(aliases.map(([alias, before]) => [alias, outputOf(from, before)])),
      input,
    }),
    when: when === undefined ? null : (given) => when.call(task, given),
    run: async (given, context) => await run.call(task, given, context),
    each,
  });
  return {
    name,
    join,
    after: aliases.map(([, before]) => before),
    definition: {
      ...definition,
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
