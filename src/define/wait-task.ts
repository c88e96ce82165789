/** Tasks that wait: for a signal, for a time, or so long. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Duration } from "../calendar/duration.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Json } from "../machine/job.ts";
import type { JoinRule } from "../machine/join.ts";
import type { NoPayload } from "./define-job.ts";
import type { GraphTaskDefinition, TaskBody, TaskDefinition, WaitOfTask } from "./definition.ts";
import { PermanentError } from "./errors.ts";
import { type AnyTask, taskFrom } from "./graph-task.ts";
import { ProblemList } from "./problem.ts";
import { present, readChoice, readDuration } from "./setting.ts";
import type { TasksBefore } from "./task-handle.ts";

const timeoutRules = ["fail", "continue"] as const satisfies readonly TimeoutRule[];
/** `fail` (default): the task is FAILED with `SIGNAL_TIMEOUT`. `continue`: it succeeds without an output. */
export type TimeoutRule = "fail" | "continue";

/** What every wait in a graph has. */
export interface WaitBase<A, J extends JoinRule> {
  /** Its predecessors: it waits from their end on. */
  readonly after?: A;
  /** As of a task. */
  readonly join?: J;
  /** The lane whose worker ends the wait. */
  readonly lane?: string;
}

export interface WaitForOptions<
  A extends TasksBefore,
  J extends JoinRule,
  S extends StandardSchemaV1 = NoPayload,
  T extends TimeoutRule = "fail",
> extends WaitBase<A, J> {
  /** Any Standard Schema for what the signal brings. Left out: it brings nothing. */
  readonly payload?: S;
  /** At most 366 days. */
  readonly timeout: Duration;
  readonly onTimeout?: T;
}

export type SleepOptions<I, A extends TasksBefore, J extends JoinRule> = WaitBase<A, J> &
  (
    | { readonly for: Duration; readonly until?: undefined }
    /** Asked once, as the run starts. A time that has passed when its predecessors have ended is not waited for. */
    | { readonly for?: undefined; until(given: { readonly input: I }): Date }
  );

interface AnyWait extends Pick<AnyTask, "after" | "join"> {
  readonly lane?: string;
  readonly payload?: StandardSchemaV1;
  readonly timeout?: unknown;
  readonly onTimeout?: unknown;
  readonly for?: unknown;
  until?(given: { readonly input: unknown }): Date;
}

/** What a wait's body is called with. */
interface Waited {
  readonly isSignaled: boolean;
  readonly payload: unknown;
}

export function waitTaskOf(graph: TaskBody["graph"], name: string, task: AnyWait): GraphTaskDefinition {
  const problems = problemsOf(graph, name);
  const ms = waitMs(problems, "timeout", task.timeout);
  const rule = readChoice(problems, "onTimeout", task.onTimeout, { choices: timeoutRules, fallback: "fail" });
  const run = ({ isSignaled, payload }: Waited): Json | void => {
    // Checked again by the limit of results, as what any task returns.
    if (isSignaled) return payload as Json | void;
    if (rule === "continue") return;
    throw new PermanentError(`no signal "${name}" came before ${String(task.timeout)} were over`, {
      code: "SIGNAL_TIMEOUT",
    });
  };
  return partsOf(graph, name, task, { problems, wait: { ms, forSignal: true, until: null }, run });
}

export function sleepTaskOf(graph: TaskBody["graph"], name: string, task: AnyWait): GraphTaskDefinition {
  const problems = problemsOf(graph, name);
  const { until } = task;
  const isBoth = until !== undefined && task.for !== undefined;
  if (isBoth) problems.add("for", task.for, "stands beside until", "leave one of them out");
  const wait: WaitOfTask =
    until === undefined
      ? { ms: waitMs(problems, "for", task.for), forSignal: false, until: null }
      : { ms: null, forSignal: false, until: (input) => timeOf(graph, name, until.call(task, { input })) };
  return partsOf(graph, name, task, { problems, wait, run: () => {} });
}

const problemsOf = (graph: TaskBody["graph"], name: string): ProblemList =>
  new ProblemList(`task "${name}" of graph "${graph.id}"`);

function waitMs(problems: ProblemList, field: string, value: unknown): number {
  const bounds = { min: 1, max: contractLimits.delayMsMax, fallback: contractLimits.delayMsMax };
  if (value === undefined) problems.add(field, value, "is missing", 'say how long it waits, like "3d"');
  return readDuration(problems, field, value, bounds);
}

/** @throws PermanentError `INVALID_GRAPH` for what is no time, or one beyond the year 9999. */
function timeOf(graph: TaskBody["graph"], name: string, at: unknown): Date {
  const ms = at instanceof Date ? at.getTime() : Number.NaN;
  if (ms >= 0 && ms <= contractLimits.dueAtMsMax) return new Date(ms);
  const shown = at instanceof Date ? "a Date that is no time, or none of the years 1970 to 9999" : `a ${typeof at}`;
  throw new PermanentError(`until of task "${name}" of graph "${graph.id}" answered ${shown}: return a Date`, {
    code: "INVALID_GRAPH",
  });
}

function partsOf(
  graph: TaskBody["graph"],
  name: string,
  { after = {}, join = "all", lane, payload }: AnyWait,
  how: { readonly problems: ProblemList; readonly wait: WaitOfTask; readonly run: (waited: Waited) => Json | void },
): GraphTaskDefinition {
  const { wait, run } = how;
  const base = taskFrom(graph, name, present({ payload, lane }), {
    given: ({ isSignaled }, _input, brought): Waited => ({ isSignaled, payload: brought }),
    run: async (waited) => run(waited as Waited),
    wait,
  });
  // Null is that no signal came; what a signal brings is also checked where it comes in.
  const check: TaskDefinition["check"] = (brought) =>
    brought === null ? { ok: true, value: undefined } : base.check(brought);
  const definition: TaskDefinition = { ...base, check, problems: [...base.problems, ...how.problems.found] };
  return { name, join, after: Object.values(after).map((before) => before.name), definition };
}
