import { explainJob } from "../core/admin/explain-job.ts";
import type { Instant, JobView } from "../core/job/job.ts";
import { operationsLimits } from "../core/ports/operations-limits.ts";
import type { ApiOptions } from "./options.ts";
import type { JobExplanationReply } from "./shape/explanation.ts";
import type { Bounds } from "./scope.ts";
import { maybeIso } from "./shape/shape.ts";

/** Why a job is not running, and when it will. Null when it was pruned after it was read. */
export async function explained(
  { operations }: Pick<ApiOptions, "operations">,
  { job, now }: { readonly job: JobView; readonly now: Instant },
  within: Bounds | null,
): Promise<JobExplanationReply | null> {
  const facts = await operations.waiting(job.id, operationsLimits.placeCountedMax);
  if (facts === null) return null;
  const key = job.heldOn ?? job.slotKeys.find((each) => each.startsWith("lock:")) ?? null;
  const slot = key === null ? null : await operations.slot(key);
  const { until, ...answer } = explainJob(job, facts, { now, slot });
  // A job of another scope may hold a lock that both have.
  const holders = within === null ? null : await operations.jobsById(answer.waitsFor);
  const waitsFor = answer.waitsFor.filter((id) => within?.kinds.has(holders?.get(id)?.job.kind ?? "") ?? true);
  return { job: job.id, ...answer, waitsFor, until: maybeIso(until) };
}
