import { iso } from "../core/job/units.ts";
import type { Instant } from "../core/job/job.ts";
import { operationsLimits } from "../core/ports/operations-limits.ts";
import type { WorkerView } from "../core/ports/overview.ts";
import type { ApiOptions } from "./options.ts";
import type { Bounds } from "./scope.ts";
import type { WorkerReply } from "./shape/overview.ts";
import { maybeIso } from "./shape/shape.ts";

/** Who worked in the last hour. */
export async function workersSeen({ operations }: ApiOptions, now: Instant, within: Bounds | null) {
  const seen = await operations.workers(now - operationsLimits.workerSeenMs);
  const shown = seen.filter(({ lane }) => within === null || (lane !== null && within.hasLane(lane)));
  return shown.map((worker) => workerJson(worker, now));
}

const silentMs = 60_000;

export function workerStatus({ running, seenAt }: WorkerView, now: Instant): WorkerReply["status"] {
  if (running.some((job) => job.leaseUntil < now)) return "lost";
  if (running.length > 0) return "busy";
  return now - seenAt > silentMs ? "silent" : "idle";
}

const workerJson = (worker: WorkerView, now: Instant): WorkerReply => ({
  id: worker.id,
  lane: worker.lane,
  version: worker.version,
  status: workerStatus(worker, now),
  startedAt: maybeIso(worker.startedAt),
  seenAt: iso(worker.seenAt),
  ended: worker.ended,
  failed: worker.failed,
  lost: worker.lost,
  lostAt: maybeIso(worker.lostAt),
  running: worker.running.map(({ jobId, startedAt, beatAt, leaseUntil, ...job }) => ({
    job: jobId,
    ...job,
    startedAt: iso(startedAt),
    beatAt: iso(beatAt),
    leaseUntil: iso(leaseUntil),
  })),
});
