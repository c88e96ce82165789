import { deliveryLimits } from "../ports/delivery-limits.ts";
import type { LapsedLease } from "../ports/ports.ts";

/**
 * Leases that one process saw expired, and since when by its own clock. A lease is rescued only if it stood unchanged for
 * `rescueLookMs` between two looks: after an outage of the store, or when its clock jumps ahead, all leases expire at once,
 * and a live worker needs a moment to renew its own or to write its outcomes.
 */
export interface LapsedLeases {
  /** Notes what is expired now. @returns the ids that stood unchanged for long enough. */
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
