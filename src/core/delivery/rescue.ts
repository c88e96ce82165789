import type { Registry } from "../define/definition.ts";
import { limits } from "../limits.ts";
import type { Fence, Ports } from "../ports/ports.ts";
import { wakeHeld } from "./relay.ts";
import { sendOutbox } from "./send.ts";
import { movedHook } from "./settled-hook.ts";

/**
 * Jobs whose worker is silent past their lease run again: at once, alone next time. A rescue is counted: a healthy
 * system rescues nothing. Called by every pass, and by workers between batches for their own lane.
 */
export async function rescue(
  ports: Pick<Ports, "store" | "queue" | "log" | "metrics" | "crashPoint">,
  registry: Registry,
  options: { limit: number; rounds: number; lane?: string; fence?: Fence; signal?: AbortSignal },
): Promise<Record<string, number>> {
  let rescued = 0;
  for (let round = 0; round < options.rounds && options.signal?.aborted !== true; round += 1) {
    const moved = await ports.store.rescue({
      limit: options.limit,
      interruptionsMax: limits.interruptionsMax,
      inSameTransaction: movedHook(ports, registry, "lost"),
      ...(options.lane === undefined ? {} : { lane: options.lane }),
      ...(options.fence === undefined ? {} : { fence: options.fence }),
    });
    for (const row of moved.rows) {
      ports.log.warn("rescued a job whose worker went silent", { job: row.jobId, kind: row.kind, state: row.state });
      ports.metrics.add("job.rescued", 1, "Count", { job: row.kind });
    }
    await sendOutbox(ports, moved.outbox);
    await wakeHeld(ports, { slotKeys: moved.freed });
    rescued += moved.rows.length;
    if (moved.rows.length < options.limit) break;
  }
  return { rescued };
}
