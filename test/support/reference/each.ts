/** Runs of the rows of a task. */
import type { RunId } from "../../../src/machine/job.ts";
import type { RunResult, RunState, RunStore } from "../../../src/machine/run.ts";
import type { JobRow, RunRow } from "./rows.ts";
import { addDelta } from "./runs.ts";
import { idOf, type Tables } from "./tables.ts";

export function runResult(t: Tables, runId: RunId): RunResult | null {
  const run = t.runs.get(Number(runId));
  if (run === undefined || run.state === "RUNNING" || run.state === "CANCELING") return null;
  const { total, done, ok, failed, skipped } = run.funnel;
  return { runId, outcome: run.state, total, succeeded: ok, failed, canceled: done - ok - failed - skipped, skipped };
}

export const runOutputs = (t: Tables, runId: RunId, { after, limit }: Parameters<RunStore["runOutputs"]>[1]) =>
  t
    .inRun(Number(runId))
    .filter(({ id, state }) => state === "SUCCESS" && id > Number(after ?? 0))
    .toSorted((a, b) => a.id - b.id)
    .slice(0, limit)
    .map((row) => ({ id: idOf(row), result: row.result }));

/** The task whose rows they were, and that waits for their end, is due. @returns its lane. */
export function awaken(t: Tables, { starterId }: RunRow): readonly string[] {
  const task = starterId === null ? undefined : t.jobs.get(starterId);
  if (task?.state !== "RETRY_WAIT" || task.task === null) return [];
  t.change(task, { dueAt: t.now() });
  return [task.lane];
}

/** What runs for the rows of these tasks is canceled with them. */
export function cancelRows(t: Tables, tasks: readonly JobRow[], caller: string | null): void {
  for (const run of rowsOf(t, tasks, ["RUNNING"])) {
    const orphaned = run.orphaned || !run.sealed;
    t.runs.set(run.id, { ...run, state: "CANCELING", sealed: true, orphaned, canceledBy: caller });
    addDelta(t, run.id, {});
  }
}

/** Runs of the rows of these tasks. */
export function rowsOf(t: Tables, tasks: readonly JobRow[], states: readonly RunState[]): readonly RunRow[] {
  const ids = new Set(tasks.filter(({ task }) => task !== null).map(({ id }) => id));
  return [...t.runs.values()].filter((run) => ids.has(run.starterId ?? 0) && states.includes(run.state));
}
