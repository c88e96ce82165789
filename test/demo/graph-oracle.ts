import type { FileTask } from "../../examples/dag-batch/workflow.ts";

export type End = "DONE" | "FAILED" | "SKIPPED";

/**
 * How each task of a graph ends when only those that always fail do: by its predecessors' ends alone, written down from
 * the words of the join rules and not from the code that runs them.
 */
export function expectedEnds(tasks: readonly FileTask[]): ReadonlyMap<string, End> {
  const known = new Map(tasks.map((task) => [task.name, task]));
  const ends = new Map<string, End>();
  const endOf = (name: string): End => {
    const before = ends.get(name);
    if (before !== undefined) return before;
    const task = known.get(name);
    if (task === undefined) throw new Error(`no task "${name}"`);
    const preds = (task.after ?? []).map(endOf);
    const good = preds.filter((end) => end === "DONE").length;
    const mayRun =
      preds.length === 0 || task.join === "allDone" || (task.join === "any" ? good > 0 : good === preds.length);
    const end = !mayRun ? "SKIPPED" : task.fails === "always" ? "FAILED" : "DONE";
    ends.set(name, end);
    return end;
  };
  for (const { name } of tasks) endOf(name);
  return ends;
}
