/** A task that runs one job for each row, in a run of its own, and ends when that run has ended. */
import { definitionFrom, type TaskLimits } from "./define-job.ts";
import type { Context } from "./context.ts";
import { type RunEndOptions, starterLimits } from "./define-fan-out.ts";
import type { EachOfTask, GraphTaskDefinition, JobDefinition, TaskBody } from "./definition.ts";
import { type AnyTask, graphTaskOf } from "./graph-task.ts";
import type { Json } from "../machine/job.ts";
import type { JoinRule } from "../machine/join.ts";
import type { FailurePolicy, RunResult } from "../machine/run.ts";
import { ProblemList } from "./problem.ts";
import type { Query } from "./query.ts";
import { sealOf } from "./sealed-by.ts";
import { present, readShare } from "./setting.ts";
import type { TaskInputs, TasksBefore } from "./task-handle.ts";

/** The limits are those of a row's job. A row and what its job returns are JSON. */
export interface EachOptions<I, A extends TasksBefore, J extends JoinRule, F extends FailurePolicy, R, O, T>
  extends Omit<TaskLimits, "onSettled">, RunEndOptions {
  /** As of a task. */
  readonly after?: A;
  readonly join?: J;
  /**
   * The rows, 50,000 at most. A query is read in keyset pages. What is no query is asked for again after a crash, and must then
   * answer the same rows.
   */
  from(
    given: TaskInputs<I, A, J, F>,
  ): readonly R[] | Query<R> | AsyncIterable<R> | Promise<readonly R[] | Query<R> | AsyncIterable<R>>;
  /** The column a query is paged by, as of a fan-out. Default `id`. */
  readonly by?: string;
  /** Rows of one key have one job. Default: the column `by` of a query's row; the place of any other row. */
  key?(row: NoInfer<R>): string;
  /** The job of one row. */
  run(row: NoInfer<R>, ctx: Context): Promise<O> | O;
  /** Makes the output of what the jobs that succeeded returned, in the order of the rows. Default: the figures of `end`. */
  fold?(outputs: AsyncIterable<O>, end: EachEnd): Promise<T> | T;
}

/** How the jobs of all rows ended. */
export type EachEnd = Pick<RunResult, "runId" | "total" | "succeeded" | "failed" | "canceled" | "skipped">;

export interface AnyEach extends Omit<TaskLimits, "onSettled">, RunEndOptions, Pick<AnyTask, "after" | "join"> {
  from(given: unknown): unknown;
  readonly by?: string;
  key?(row: unknown): string;
  run(row: unknown, ctx: Context): Promise<Json | void> | Json | void;
  fold?(outputs: AsyncIterable<Json | null>, end: EachEnd): Promise<Json> | Json;
}

export function eachTaskOf(graph: TaskBody["graph"], name: string, options: AnyEach): GraphTaskDefinition {
  const { after, join, from, by = "id", key, run, fold, tolerate, ...limits } = options;
  const problems = new ProblemList(`task "${name}" of graph "${graph.id}"`);
  const id = `${graph.id}.${name}`;
  const rows: JobDefinition = {
    ...definitionFrom(
      { ...limits, ...sealOf(graph), id: `${id}.row` },
      { is: "handler", run: async (row, ctx) => await run.call(options, row, ctx) },
    ),
    check: (row) => ({ ok: true, value: row }),
  };
  const each: EachOfTask = {
    rows,
    by,
    tolerate: readShare(problems, "tolerate", tolerate),
    from: (given) => from.call(options, given),
    key: key === undefined ? null : (row) => key.call(options, row),
    fold: fold === undefined ? null : (outputs, end) => fold.call(options, outputs, end),
  };
  const { lane, retention } = limits;
  const starter = { ...starterLimits, ...present({ lane, retention, after, join }), run: () => {} };
  const { definition, ...task } = graphTaskOf(graph, name, starter, each);
  const found = [...definition.problems, ...rows.problems, ...problems.found];
  return { ...task, definition: { ...definition, problems: found, makes: [rows] } };
}
