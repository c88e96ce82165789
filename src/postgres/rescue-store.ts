import { cleanText } from "../machine/clean.ts";
import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { Store } from "../machine/store.ts";
import { moveRows, newestColumns } from "./outbox.ts";
import type { Session } from "./session.ts";
import { endLeases, keepLeases, noteCause } from "./sql/lease.ts";
import { findLapsed, keepBodies, rescueLost, returnUndelivered } from "./sql/rescue.ts";

export function rescueStore(session: Session) {
  return {
    async endLeases(worker, cause) {
      await session.run(endLeases, [worker, cause]);
    },
    async keepLeases(worker) {
      await session.run(keepLeases, [worker]);
    },
    async noteCause(worker, cause) {
      await session.run(noteCause, [worker, cause]);
    },
    lapsedLeases: ({ limit, lane }) => session.run(findLapsed, [limit, lane ?? null]),
    rescue: ({ limit, interruptionsMax, lane, leases, ...options }) =>
      moveRows(session, rescueLost, [limit, interruptionsMax, lane ?? null, leases ?? null], options),
    returnUndelivered: (messages, { undeliveredMax, backoffMs, ...options }) =>
      moveRows(session, returnUndelivered, [...newestColumns(messages), undeliveredMax, backoffMs], options),
    async quarantine(lane, bodies) {
      if (bodies.length === 0) return;
      await session.run(keepBodies, [
        lane,
        bodies.map((body) => cleanText(body, deliveryLimits.quarantineCharactersMax)),
      ]);
    },
  } satisfies Partial<Store>;
}
