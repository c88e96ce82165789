import { reasons } from "../machine/reasons.ts";
import type { JobDefinition } from "../define/definition.ts";
import type { InRun } from "../machine/run.ts";
import { openValue, type Seals } from "../machine/seal.ts";
import { afterCommit } from "./after-commit.ts";
import type { Arrived } from "./message.ts";
import { openRun } from "./opened.ts";
import { isGraph, isTaken } from "./run-graph.ts";
import type { WorkerScope } from "./worker-scope.ts";

export interface EvaluatedConditions {
  /** To be claimed. */
  readonly wanted: readonly Arrived[];
  /** Their condition could not be evaluated: their messages are given back. */
  readonly giveBack: readonly string[];
}

/**
 * Evaluates the condition of each job (a task's `when`, a fan-out's `stillWanted`) before its claim, because a running job
 * cannot be skipped. Unwanted jobs become SKIPPED under the generation of their message.
 */
export async function evaluateConditions(scope: WorkerScope, items: readonly Arrived[]): Promise<EvaluatedConditions> {
  if (items.length === 0) return { wanted: [], giveBack: [] };
  const { ports } = scope;
  const known = await ports.store.inRuns(items.map((item) => item.message.jobId));
  const answers = await Promise.all(items.map((item) => ask(scope, item, known.get(item.message.jobId))));
  const wanted: Arrived[] = [];
  const giveBack: string[] = [];
  const skipped = new Map<string, Arrived["message"][]>();
  for (const { item, answer } of answers) {
    if (answer === null) giveBack.push(item.messageId);
    else if (answer.unwanted === null) wanted.push(item);
    else skipped.set(answer.unwanted, [...(skipped.get(answer.unwanted) ?? []), item.message]);
  }
  for (const [reason, messages] of skipped) {
    const { ids, aftermath } = await ports.store.skip(messages, { reason });
    ports.metrics.add("job.refused", ids.length, "Count");
    await afterCommit(ports, aftermath);
  }
  return { wanted, giveBack };
}

/** `unwanted`: why the job is SKIPPED; null: it is wanted. */
async function ask(
  scope: WorkerScope,
  item: Arrived,
  run: InRun | undefined,
): Promise<{ item: Arrived; answer: { unwanted: string | null } | null }> {
  if (run === undefined) return { item, answer: { unwanted: null } };
  try {
    return { item, answer: { unwanted: await whyUnwanted(scope.ports.seals, scope.registry.jobs.get(run.kind), run) } };
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

async function whyUnwanted(
  seals: Seals | undefined,
  definition: JobDefinition | undefined,
  run: InRun,
): Promise<string | null> {
  if (definition === undefined) return null;
  const { body, seal: own } = definition;
  if (isGraph(definition))
    return (await isTaken(definition, own === null ? run : await openRun(seals, own, run))) ? null : reasons.notTaken;
  if (body.is !== "fanOut" || body.stillWanted === null) return null;
  const { seal } = body.each;
  const row = seal === null || run.row === null ? run.row : await openValue(seals, seal, run.row);
  return (await body.stillWanted(row)) ? null : reasons.noLongerWanted;
}
