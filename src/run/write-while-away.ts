import type { JobId } from "../machine/job.ts";
import { isStoreAway } from "../machine/transaction.ts";
import { type Ports } from "../machine/ports.ts";
import { workerLimits } from "./worker-limits.ts";

type WritingPorts = Pick<Ports, "clock" | "log" | "metrics">;

interface Unwritten {
  readonly job: { readonly jobId: JobId };
  readonly untilMs: number;
}

/**
 * A write failed with `first`: repeats it while the store is away, until the invocation ends, so that an outage costs no attempt. A
 * repetition changes nothing if an earlier write succeeded, or if another worker has the job.
 */
export async function writeWhileAway(
  ports: WritingPorts,
  group: readonly Unwritten[],
  first: unknown,
  writeGroup: () => Promise<void>,
): Promise<void> {
  const untilMs = Math.min(...group.map((item) => item.untilMs));
  let error = first;
  for (let round = 0; ; round += 1) {
    const pauseMs = Math.min(workerLimits.settleRetryMs * 2 ** round, workerLimits.settleRetryMsMax);
    const isLast = ports.clock.elapsedMs() + pauseMs >= untilMs;
    if (isLast) logUnwritten(ports, group, error);
    if (!isStoreAway(error) || isLast) throw error;
    if (round === 0)
      ports.log.warn("an outcome could not be written; it is tried again", { jobs: group.length, error });
    await ports.clock.sleep(pauseMs);
    try {
      return await writeGroup();
    } catch (again) {
      error = again;
    }
  }
}

function logUnwritten(ports: WritingPorts, group: readonly Unwritten[], error: unknown): void {
  const jobs = group.map((item) => item.job.jobId);
  ports.log.error("outcomes could not be written before the invocation ended; their leases decide", { jobs, error });
  ports.metrics.add("job.settle.unwritten", group.length);
}
