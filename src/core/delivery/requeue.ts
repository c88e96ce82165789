import type { Registry } from "../define/definition.ts";
import { deliveryLimits } from "../ports/delivery-limits.ts";
import { type Fence, FenceLost, type Ports } from "../ports/ports.ts";

/** Per lane, since when (monotonic, of this process) its queue showed no visible message. */
export type QueueObservations = Map<string, number>;

/** What the task before saw, so that a lost message is found as soon at the turn of two tasks as in the middle of one. */
export async function earlierObservations({
  store,
  clock,
  log,
}: Pick<Ports, "store" | "clock" | "log">): Promise<QueueObservations> {
  try {
    const nowMs = clock.elapsedMs();
    const seen = await store.queueObservations({ maxAgeMs: deliveryLimits.sightAgeMsMax });
    return new Map(seen.map(({ lane, emptyMs }) => [lane, nowMs - emptyMs]));
  } catch (error) {
    log.warn("what the task before saw of the queues is not known; lost messages are found later", { error });
    return new Map();
  }
}

/** Never throws: without it the next task finds a lost message half a minute later. */
export async function saveObservations(
  { store, clock, log }: Pick<Ports, "store" | "clock" | "log">,
  sights: QueueObservations,
): Promise<void> {
  try {
    const nowMs = clock.elapsedMs();
    await store.saveQueueObservations([...sights].map(([lane, sinceMs]) => ({ lane, emptyMs: nowMs - sinceMs })));
  } catch (error) {
    log.warn("what this task saw of the queues was not kept; lost messages are found later", { error });
  }
}

/**
 * Messages that the queue confirmed and lost, on our own evidence only: a backlog is never sent again for its age.
 * A row that was due and out while its queue showed nothing to receive has lost its message: the queue forgot it, or a
 * worker received it and died before the claim, which a live one makes within seconds. The second case would else wait
 * for the queue's visibility timeout, six times the function's. Lost, too, is what later messages of its lane overtook.
 * While the queue has more delayed messages than there are rows that are not due yet, the row's own may be one of them: it
 * gets more time.
 */
export async function requeueLost(
  ports: Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics">,
  registry: Registry,
  sights: QueueObservations,
  options: { fence?: Fence },
): Promise<Record<string, number>> {
  let rows = 0;
  let failed = 0;
  for (const lane of lanesOf(registry)) {
    try {
      rows += await requeueLane(ports, lane, sights, options);
    } catch (error) {
      // A queue that does not answer must not keep the other lanes' messages lost.
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
  sights: QueueObservations,
  options: { fence?: Fence },
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
    sights.delete(lane);
    return overtaken;
  }
  const sinceMs = sights.get(lane) ?? nowMs;
  sights.set(lane, sinceMs);
  const isEmpty = depth.inFlight + depth.delayed === 0;
  if (nowMs - sinceMs < (isEmpty ? deliveryLimits.emptyQueueMs : deliveryLimits.unclaimedMs)) return overtaken;
  sights.set(lane, nowMs);
  const seenMs = nowMs - sinceMs;
  const mayBeLate = depth.delayed > 0 && !(await areAhead(ports, lane, depth.delayed));
  const lost = await ports.store.requeueLost({
    lane,
    evidence: "queue-empty",
    olderThanMs: mayBeLate ? Math.max(seenMs, deliveryLimits.lateMessageMs) : seenMs,
    limit: deliveryLimits.requeueRowsMax,
    ...options,
  });
  return overtaken + lost;
}

/** The messages of rows that become due later. Those of the last moments count: a delay is whole seconds, rounded down. */
async function areAhead({ store }: Pick<Ports, "store">, lane: string, delayed: number): Promise<boolean> {
  if (delayed > deliveryLimits.aheadRowsMax) return false;
  return (await store.countNotYetDue({ lane, sinceMs: deliveryLimits.aheadSinceMs, limit: delayed })) >= delayed;
}

const lanesOf = (registry: Registry): ReadonlySet<string> =>
  new Set([...registry.jobs.values()].map((definition) => definition.lane));
