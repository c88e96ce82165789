import { contractLimits } from "../machine/contract-limits.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { LapsedLease } from "../machine/store.ts";

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
