import { reasons } from "../job/reasons.ts";
import type { JobDefinition } from "../define/definition.ts";
import type { InRun } from "../ports/ports.ts";
import { afterCommit } from "../delivery/after-commit.ts";
import type { Arrived } from "../delivery/message.ts";
import { isGraph, isTaken } from "./run-graph.ts";
import type { WorkerScope } from "./worker-scope.ts";

export interface EvaluatedConditions {
  /** To be claimed. */
  readonly wanted: readonly Arrived[];
  /** Their condition could not be evaluated: their messages are given back. */
  readonly giveBack: readonly string[];
}

/** The answer of the condition of one job of a run. */
type ConditionResult =
  | { readonly wanted: true }
  /** `notTaken`: a branch, which counts neither as success nor as failure for its successors. */
  | { readonly wanted: false; readonly reason: string; readonly notTaken: boolean };

/**
 * Evaluates the condition of each job (a task's `when`, a fan-out's `stillWanted`) before its claim, because a running job
 * cannot be skipped. Unwanted jobs become SKIPPED under the generation of their message.
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
  for (const { messages, reason, notTaken } of skipped.values()) {
    const { aftermath } = await ports.store.skip(messages, { reason, notTaken });
    ports.metrics.add("job.refused", messages.length, "Count");
    await afterCommit(ports, aftermath, options);
  }
  return { wanted, giveBack };
}

async function ask(
  scope: WorkerScope,
  item: Arrived,
  run: InRun | undefined,
): Promise<{ item: Arrived; answer: ConditionResult | null }> {
  if (run === undefined) return { item, answer: { wanted: true } };
  try {
    return { item, answer: await resultOf(scope.registry.jobs.get(run.kind), run) };
  } catch (error) {
    scope.ports.log.error("a condition could not be asked; the message is given back", {
      job: item.message.jobId,
      kind: run.kind,
      run: run.runId,
      error,
    });
    return { item, answer: null };
  }
}

async function resultOf(definition: JobDefinition | undefined, run: InRun): Promise<ConditionResult> {
  if (definition === undefined) return { wanted: true };
  if (isGraph(definition)) {
    return (await isTaken(definition, run))
      ? { wanted: true }
      : { wanted: false, reason: reasons.notTaken, notTaken: true };
  }
  const { body } = definition;
  if (body.is !== "fanOut" || body.stillWanted === null || (await body.stillWanted(run.row))) return { wanted: true };
  return { wanted: false, reason: reasons.noLongerWanted, notTaken: true };
}
