/** Runs of the rows of a task. */
import type { RunId } from "../../../src/machine/job.ts";
import type { RunResult, RunStore } from "../../../src/machine/run.ts";
import type { RunRow } from "./rows.ts";
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
