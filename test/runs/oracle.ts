import { joinVerdict, type JoinRule } from "../../src/machine/join.ts";
import type { FailurePolicy, RunState } from "../../src/machine/run.ts";
import type { State } from "../../src/machine/state.ts";

/** What a task will do if it gets to run. `branch`: its condition says no. */
export type Fate = "succeed" | "fail" | "branch";

export interface PlannedTask {
  readonly name: string;
  /** Places of its predecessors, all smaller than its own. */
  readonly after: readonly number[];
  readonly join: JoinRule;
  readonly fate: Fate;
}

export interface Ended {
  readonly state: State;
  readonly notTaken: boolean;
}

/** How every task of a graph must end, worked out task by task in order, with nothing of the system under test but the rule. */
export function oracle(tasks: readonly PlannedTask[], onFailure: Exclude<FailurePolicy, "stop">): readonly Ended[] {
  const ends: Ended[] = [];
  for (const task of tasks) ends.push(endOf(task, ends, onFailure));
  return ends;
}

function endOf(task: PlannedTask, ends: readonly Ended[], onFailure: FailurePolicy): Ended {
  const before = task.after.flatMap((place) => ends[place] ?? []);
  const ok = before.filter((end) => isOk(end, onFailure)).length;
  const bad = before.filter((end) => !isOk(end, onFailure) && !end.notTaken).length;
  const verdict = before.length === 0 ? "ready" : joinVerdict(task.join, { open: 0, ok, bad });
  if (verdict === "upstream") return { state: "SKIPPED", notTaken: false };
  if (verdict === "not taken" || task.fate === "branch") return { state: "SKIPPED", notTaken: true };
  return { state: task.fate === "fail" ? "FAILED" : "SUCCESS", notTaken: false };
}

const isOk = (end: Ended, onFailure: FailurePolicy): boolean =>
  end.state === "SUCCESS" || (end.state === "FAILED" && onFailure === "continue");

export const runEnd = (ends: readonly Ended[]): RunState =>
  ends.some((end) => end.state === "FAILED") ? "FAILED" : "DONE";
