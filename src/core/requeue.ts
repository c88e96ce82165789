import type { Registry } from "./definition.ts";
import { limits } from "./limits.ts";
import type { Fence, Ports } from "./ports.ts";

/** Per lane, since when (monotonic) its queue was seen empty. Lives as long as one scheduler task. */
export type QueueSights = Map<string, number>;

/**
 * Messages that the queue confirmed and lost, on our own evidence only: a backlog is never sent again for its age.
 * A queue seen empty twice, with rows that were out all that time, has lost them; so has one whose later messages run.
 */
export async function requeueLost(
  ports: Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics">,
  registry: Registry,
  sights: QueueSights,
  options: { fence?: Fence },
): Promise<Record<string, number>> {
  let rows = 0;
  for (const lane of lanesOf(registry)) {
    rows += await requeueLane(ports, lane, sights, options);
  }
  if (rows > 0) {
    ports.log.warn("messages were lost by the queue; their jobs are sent again", { jobs: rows });
    ports.metrics.add("rescue.messages.lost", rows);
  }
  return { requeued: rows };
}

async function requeueLane(
  ports: Pick<Ports, "store" | "queue" | "clock">,
  lane: string,
  sights: QueueSights,
  options: { fence?: Fence },
): Promise<number> {
  const overtaken = await ports.store.requeueLost({
    lane,
    evidence: "overtaken",
    olderThanMs: limits.overtakenMs,
    limit: limits.requeueRowsMax,
    ...options,
  });
  const depth = await ports.queue.depth(lane);
  if (depth.visible + depth.inFlight + depth.delayed > 0) {
    sights.delete(lane);
    return overtaken;
  }
  const nowMs = ports.clock.elapsedMs();
  const sinceMs = sights.get(lane);
  if (sinceMs === undefined) sights.set(lane, nowMs);
  if (sinceMs === undefined || nowMs - sinceMs < limits.emptyQueueMs) return overtaken;
  const lost = await ports.store.requeueLost({
    lane,
    evidence: "queue-empty",
    olderThanMs: nowMs - sinceMs,
    limit: limits.requeueRowsMax,
    ...options,
  });
  return overtaken + lost;
}

const lanesOf = (registry: Registry): ReadonlySet<string> =>
  new Set([...registry.jobs.values()].map((definition) => definition.lane));
