import type { Registry } from "../define/definition.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Fence } from "../machine/fence.ts";
import type { Ports } from "../machine/ports.ts";
import { afterCommit } from "./after-commit.ts";
import type { LapsedLeases } from "./lapsed-leases.ts";
import { movedHook } from "./settled-hook.ts";

/**
 * Jobs whose lease expired run again at once; an interrupted one runs alone. Rescues are counted, because a healthy system
 * has none. Called by every pass, and by workers between batches for their own lane.
 */
export async function rescue(
  ports: Pick<Ports, "store" | "queue" | "clock" | "log" | "metrics" | "crashPoint">,
  registry: Registry,
  options: {
    readonly lapsed: LapsedLeases;
    readonly limit: number;
    readonly rounds: number;
    readonly lane?: string | undefined;
    readonly fence?: Fence | undefined;
    readonly signal?: AbortSignal;
  },
): Promise<Record<string, number>> {
  const { lapsed, limit, lane } = options;
  let rescued = 0;
  for (let round = 0; round < options.rounds && options.signal?.aborted !== true; round += 1) {
    const expired = await ports.store.lapsedLeases({ limit, lane });
    const leases = lapsed.look(expired, ports.clock.elapsedMs());
    // Only a pass also frees the slots of canceled jobs.
    if (leases.length === 0 && lane !== undefined) break;
    const moved = await ports.store.rescue({
      leases,
      limit,
      interruptionsMax: contractLimits.interruptionsMax,
      inSameTransaction: movedHook(ports, registry, "LOST"),
      lane,
      fence: options.fence,
    });
    for (const row of moved.rows) {
      ports.log.warn("rescued a job whose lease ended without an outcome", {
        job: row.jobId,
        kind: row.kind,
        outcome: "LOST",
        state: row.state,
      });
      ports.metrics.add("job.rescued", 1, "Count", { job: row.kind });
    }
    await afterCommit(ports, moved.aftermath);
    rescued += moved.rows.length;
    if (moved.rows.length < limit) break;
  }
  return { rescued };
}
