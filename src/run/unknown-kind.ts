import type { Outcome } from "../machine/decide.ts";
import { workerLimits } from "./worker-limits.ts";
import type { Claimed } from "../machine/store.ts";
import type { WorkerScope } from "./worker-scope.ts";

/**
 * During a release newer processes may make jobs of a kind that an older worker does not know. Such a job waits, longer each
 * time and without losing an attempt, for a newer worker. A job older than `unknownKindMs` is FAILED: its kind was removed.
 */
export async function unknownKind(worker: WorkerScope, job: Claimed): Promise<Outcome> {
  const ageMs = await ageOf(worker, job);
  const error = { code: "UNKNOWN_KIND", message: `no definition "${job.kind}" in this release` } as const;
  if (ageMs > workerLimits.unknownKindMs) {
    return {
      is: "permanent",
      ...error,
      message: `${error.message}: deploy the code that defines it, then retry the job`,
    };
  }
  const afterMs = Math.min(workerLimits.unknownKindRetryMsMax, Math.max(workerLimits.unknownKindRetryMs, ageMs));
  const message = `${error.message}; it waits for a worker of a newer one`;
  return { is: "postponed", ...error, message, afterMs, counted: false };
}

/** By the database's clock. A row that cannot be read now may be young. */
async function ageOf({ ports: { store, log } }: WorkerScope, { jobId }: Claimed): Promise<number> {
  try {
    const [row] = await store.peek([jobId]);
    return row?.ageMs ?? 0;
  } catch (error) {
    log.warn("the age of a job of an unknown kind was not read", { job: jobId, error });
    return 0;
  }
}
