import type { Registry } from "../define/definition.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Fence } from "../machine/fence.ts";
import type { Ports } from "../machine/ports.ts";
import { afterCommit } from "./after-commit.ts";
import { movedHook } from "./settled-hook.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { LapsedLease } from "../machine/store.ts";

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

/**
 * Expired leases that one process saw, and since when by its own clock. A lease is rescued only if two reads found it
 * unchanged, as far apart as its heartbeats: after a store outage or a clock jump all leases expire at once, and a live worker
 * renews its own at its next heartbeat. One look is enough where its worker is known to be dead.
 */
export interface LapsedLeases {
  /** Notes which leases are expired now. @returns the ids that were unchanged for long enough. */
  look(expired: readonly LapsedLease[], nowMs: number): readonly string[];
}

export function createLapsedLeases(): LapsedLeases {
  let seen = new Map<string, LapsedLease & { readonly sinceMs: number }>();
  return {
    look(expired, nowMs) {
      const before = seen;
      seen = new Map(
        expired.map((lease) => {
          const known = before.get(lease.id);
          return [lease.id, known?.until === lease.until ? known : { ...lease, sinceMs: nowMs }];
        }),
      );
      return [...seen]
        .filter(([, lease]) => lease.until === 0 || nowMs - lease.sinceMs >= lookMs(lease))
        .map(([id]) => id);
    },
  };
}

/** Longer than between two heartbeats, but bounded: only a jump of many minutes expires a lease of an hour. */
function lookMs({ ms }: LapsedLease): number {
  const beatMs = ms / contractLimits.heartbeatsPerLease + deliveryLimits.heartbeatTakesMs;
  return Math.min(deliveryLimits.rescueLookMsMax, Math.max(deliveryLimits.rescueLookMs, beatMs));
}
