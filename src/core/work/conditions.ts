import type { ConditionResult } from "../define/definition.ts";
import type { JobId } from "../job/job.ts";
import type { InRun } from "../ports/ports.ts";
import { resolveAfter } from "../delivery/resolve.ts";
import type { Arrived } from "../delivery/message.ts";
import type { WorkerScope } from "./worker-scope.ts";

export interface EvaluatedConditions {
  /** To be claimed. */
  readonly wanted: readonly Arrived[];
  /** Nobody could answer: their messages are given back. */
  readonly giveBack: readonly string[];
}

/**
 * Asks the condition of each job (a task's `when`, a fan-out's `stillWanted`) before it is claimed, because a job that runs
 * can no longer be skipped. Those that are not wanted become SKIPPED under the generation of their message.
 */
export async function evaluateConditions(scope: WorkerScope, items: readonly Arrived[]): Promise<EvaluatedConditions> {
  if (items.length === 0) return { wanted: [], giveBack: [] };
  const { ports, options } = scope;
  const known = await ports.store.inRuns(items.map((item) => item.message.jobId));
  const answers = await Promise.all(items.map((item) => ask(scope, item, known.get(item.message.jobId))));
  const wanted: Arrived[] = [];
  const giveBack: string[] = [];
  const skipped = new Map<string, { reason: string; notTaken: boolean; messages: Arrived["message"][] }>();
  for (const { item, answer } of answers) {
    if (answer === null) giveBack.push(item.messageId);
    else if (answer.wanted) wanted.push(item);
    else {
      const key = `${answer.notTaken}:${answer.reason}`;
      const group = skipped.get(key) ?? { reason: answer.reason, notTaken: answer.notTaken, messages: [] };
      group.messages.push(item.message);
      skipped.set(key, group);
    }
  }
  for (const { messages, ...how } of skipped.values()) {
    await ports.store.skip(messages, how);
    ports.metrics.add("job.refused", messages.length, "Count");
  }
  if (skipped.size > 0) await resolveAfter(ports, runsOf(known), options);
  return { wanted, giveBack };
}

async function ask(
  scope: WorkerScope,
  item: Arrived,
  run: InRun | undefined,
): Promise<{ item: Arrived; answer: ConditionResult | null }> {
  if (run === undefined) return { item, answer: { wanted: true } };
  try {
    const asks = scope.registry.jobs.get(run.kind)?.condition;
    return { item, answer: asks === undefined ? { wanted: true } : await asks(run) };
  } catch (error) {
    scope.ports.log.error("a condition could not be asked; the message is given back", {
      job: item.message.jobId,
      run: run.runId,
      error,
    });
    return { item, answer: null };
  }
}

const runsOf = (known: ReadonlyMap<JobId, InRun>) => [...new Set([...known.values()].map((run) => run.runId))];
