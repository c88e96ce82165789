import type { Registry } from "../define/definition.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import { type Fence, FenceLost } from "../machine/fence.ts";
import { orWarn } from "../machine/or-warn.ts";
import { type Ports } from "../machine/ports.ts";

/** By lane: since when, by this process's monotonic clock, its queue showed no visible message. */
export type QueueObservations = Map<string, number>;

/** The observations of the previous task, so that a change of tasks does not delay finding a lost message. */
export async function earlierObservations({
  store,
  clock,
  log,
}: Pick<Ports, "store" | "clock" | "log">): Promise<QueueObservations> {
  const nowMs = clock.elapsedMs();
  const look = () => store.queueObservations({ maxAgeMs: deliveryLimits.observationAgeMsMax });
  const warning = "what the task before saw of the queues is not known; lost messages are found later";
  const seen = (await orWarn(log, look, warning)) ?? [];
  return new Map(seen.map(({ lane, emptyMs }) => [lane, nowMs - emptyMs]));
}

/** Never throws: if this fails, the next task finds a lost message half a minute later. */
export async function saveObservations(
  { store, clock, log }: Pick<Ports, "store" | "clock" | "log">,
  observations: QueueObservations,
): Promise<void> {
  const nowMs = clock.elapsedMs();
  const seen = [...observations].map(([lane, sinceMs]) => ({ lane, emptyMs: nowMs - sinceMs }));
  const warning = "what this task saw of the queues was not kept; lost messages are found later";
  await orWarn(log, () => store.saveQueueObservations(seen), warning);
}

/**
 * Finds QUEUED rows whose message is lost. Age alone is no evidence: a backlog is never sent again.
 * A due row whose queue shows no message has lost it: the queue dropped it, or a worker received it and died before the
 * claim. The row would otherwise wait for the visibility timeout, six times the function's. A row that later messages of its
 * lane overtook has lost its message too. While the queue counts more delayed messages than rows that are not due yet, the
 * row's message may be among them, so the row gets more time.
 */
export async function requeueLost(
  ports: Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics">,
  registry: Registry,
  observations: QueueObservations,
  options: { fence?: Fence | undefined },
): Promise<Record<string, number>> {
  let rows = 0;
  let failed = 0;
  for (const lane of lanesOf(registry)) {
    try {
      rows += await requeueLane(ports, lane, observations, options);
    } catch (error) {
      // A queue that does not answer must not stop the search in the other lanes.
      if (error instanceof FenceLost) throw error;
      failed += 1;
      ports.log.error("a lane was not searched for lost messages; the next pass does it", { lane, error });
      ports.metrics.add("scheduler.step.failed", 1);
    }
  }
  if (rows > 0) {
    ports.log.warn("messages were lost by the queue; their jobs are sent again", { jobs: rows });
    ports.metrics.add("rescue.messages.lost", rows);
  }
  return failed === 0 ? { requeued: rows } : { requeued: rows, "requeue.failed": failed };
}

async function requeueLane(
  ports: Pick<Ports, "store" | "queue" | "clock">,
  lane: string,
  observations: QueueObservations,
  options: { fence?: Fence | undefined },
): Promise<number> {
  const overtaken = await ports.store.requeueLost({
    lane,
    evidence: "overtaken",
    olderThanMs: deliveryLimits.overtakenMs,
    limit: deliveryLimits.requeueRowsMax,
    ...options,
  });
  const depth = await ports.queue.depth(lane);
  const nowMs = ports.clock.elapsedMs();
  if (depth.visible > 0) {
    observations.delete(lane);
    return overtaken;
  }
  const sinceMs = observations.get(lane) ?? nowMs;
  observations.set(lane, sinceMs);
  const isEmpty = depth.inFlight + depth.delayed === 0;
  if (nowMs - sinceMs < (isEmpty ? deliveryLimits.emptyQueueMs : deliveryLimits.unclaimedMs)) return overtaken;
  observations.set(lane, nowMs);
  const seenMs = nowMs - sinceMs;
  const mayBeLate = depth.delayed > 0 && !(await areNotYetDue(ports, lane, depth.delayed));
  const lost = await ports.store.requeueLost({
    lane,
    evidence: "queue-empty",
    olderThanMs: mayBeLate ? Math.max(seenMs, deliveryLimits.lateMessageMs) : seenMs,
    limit: deliveryLimits.requeueRowsMax,
    ...options,
  });
  return overtaken + lost;
}

/** Whether the delayed messages may all belong to rows of the future. Rows just due count: a delay is rounded down to seconds. */
async function areNotYetDue({ store }: Pick<Ports, "store">, lane: string, delayed: number): Promise<boolean> {
  if (delayed > deliveryLimits.notYetDueRowsMax) return false;
  return (await store.countNotYetDue({ lane, sinceMs: deliveryLimits.notYetDueSinceMs, limit: delayed })) >= delayed;
}

const lanesOf = (registry: Registry): ReadonlySet<string> =>
  new Set([...registry.jobs.values()].map((definition) => definition.lane));
