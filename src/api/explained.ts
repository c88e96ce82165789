import { batchRuleOf } from "../define/batch.ts";
import { lockGate } from "../admission/lock.ts";
import { explainJob } from "../insight/explain-job.ts";
import type { JobId } from "../machine/job.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import { readRecords } from "../insight/job.ts";
import { readSlot } from "../insight/slots.ts";
import { readWaiting } from "../insight/waiting.ts";
import type { ApiOptions } from "./options.ts";
import type { JobExplanationReply } from "./shape/job.ts";
import type { Bounds } from "./scope.ts";
import { maybeIso } from "../machine/units.ts";

/** Why a job is not running, and when it will. Null when it does not exist, or no longer. */
export async function explanationOf(
  { ports, insight, registry }: Pick<ApiOptions, "ports" | "insight" | "registry">,
  id: JobId,
  within: Bounds | null,
): Promise<JobExplanationReply | null> {
  const job = await ports.store.job(id);
  const [facts] = job === null ? [] : await insight.run(readWaiting, { id, most: insightLimits.placeCountedMax });
  if (job === null || facts === undefined) return null;
  const key = job.heldOn ?? job.slotKeys.find((each) => each.startsWith(`${lockGate.prefix}:`)) ?? null;
  const [slot = null] = key === null ? [] : await insight.run(readSlot, { key, before: facts.heldBefore.count });
  const batchWaitMs = batchRuleOf(registry.jobs.get(job.kind))?.waitMs ?? 0;
  const { until, pieces, ...answer } = explainJob(job, facts, { now: facts.now, slot, batchWaitMs });
  // A job of another scope may hold a lock that both have.
  const ids = answer.waitsFor;
  const holders = within === null ? [] : await insight.run(readRecords, { ids, whole: false });
  const kinds = new Map<string, string>(holders.map((holder) => [holder.id, holder.kind]));
  const waitsFor = ids.filter((each) => within?.kinds.has(kinds.get(each) ?? "") ?? true);
  return { job: id, ...answer, pieces: [...pieces], waitsFor, until: maybeIso(until) };
}
