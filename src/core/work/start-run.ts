import type { Context } from "../define/context.ts";
import { insideOf } from "./inside.ts";
import type { JobDefinition } from "../define/definition.ts";
import { newJob, slotKeysOf } from "../define/new-job.ts";
import type { NewTask } from "../ports/ports.ts";
import type { JoinRule } from "../job/join.ts";

/** Starts the planned run in this job's own success transaction: both happen, or neither. */
export async function startRunIn(context: Context, definition: JobDefinition): Promise<void> {
  const scope = insideOf(context);
  const { job, worker } = scope;
  if (definition.plan === undefined) throw new TypeError(`"${definition.id}" does not plan runs`);
  const key = job.key ?? `job:${job.jobId}`;
  const { stage } = worker.options;
  const run = await definition.plan(job.payload, {
    stage,
    key,
    trace: job.trace,
    starterId: job.jobId,
    parentId: null,
  });
  await context.tx(async (tx) => {
    const started = await worker.ports.store.startRun(run, { dispatchWindowMs: worker.options.dispatchWindowMs, tx });
    scope.outbox.push(...started.outbox);
    scope.runs.add(started.runId);
    return { runId: started.runId, tasks: run.tasks.length };
  });
}

/** The row of one task. Its input is the run's, so its own payload is empty. */
export function taskRow(
  definition: JobDefinition,
  stage: string,
  trace: string,
  task: {
    readonly name: string;
    readonly after: readonly number[];
    readonly join: JoinRule;
    readonly hasCondition: boolean;
  },
): NewTask {
  const job = newJob(definition, stage, {
    payload: null,
    key: null,
    dueAt: null,
    delayMs: 0,
    trace,
    slotKeys: slotKeysOf(definition),
  });
  return { task: task.name, job, after: task.after, join: task.join, hasCondition: task.hasCondition };
}
