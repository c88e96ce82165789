import { deliveryLimits } from "../ports/delivery-limits.ts";
import type { LapsedLease } from "../ports/ports.ts";

/**
 * Expired leases that one process saw, and since when by its own clock. A lease is rescued only if two reads,
 * `rescueLookMs` apart, found it unchanged: after a store outage or a clock jump all leases expire at once, and a live
 * worker needs a moment to renew its own.
 */
export interface LapsedLeases {
  /** Notes which leases are expired now. @returns the ids that were unchanged for long enough. */
  look(expired: readonly LapsedLease[], nowMs: number): readonly string[];
}

export function createLapsedLeases(): LapsedLeases {
  let seen = new Map<string, { readonly until: number; readonly sinceMs: number }>();
  return {
    look(expired, nowMs) {
      const before = seen;
      seen = new Map(
        expired.map(({ id, until }) => {
          const known = before.get(id);
          return [id, known?.until === until ? known : { until, sinceMs: nowMs }];
        }),
      );
      return [...seen].filter(([, { sinceMs }]) => nowMs - sinceMs >= deliveryLimits.rescueLookMs).map(([id]) => id);
    },
  };
}
