import { deliveryLimits } from "../../core/ports/delivery-limits.ts";
import type { Store } from "../../core/ports/ports.ts";
import { outboxOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import { confirmPart, confirmWhole, relayDue, reopenOutbox } from "./sql/relay.ts";
import {
  countNotYetDue,
  readObservations,
  requeueOvertaken,
  requeueUnqueued,
  writeObservations,
} from "./sql/requeue.ts";
import { wakeAll, wakeKeys } from "./sql/wake.ts";

/** A sample of running jobs is enough for the 5th percentile; each is read by its id. */
const overtakenSampleMax = 100;

type RelayPart =
  | "relay"
  | "confirm"
  | "reopen"
  | "requeueLost"
  | "queueObservations"
  | "saveQueueObservations"
  | "countNotYetDue"
  | "wake";

export function relayStore(session: Session): Pick<Store, RelayPart> {
  return {
    async relay({ limit, lane, fence }) {
      return outboxOf(await session.fenced(fence, relayDue, [session.dispatchWindowMs, limit, lane ?? null]));
    },
    async confirm(sent) {
      const whole = sent.filter((each) => each.failed.length === 0).map((each) => each.id);
      if (whole.length > 0) await session.run(confirmWhole, [whole]);
      for (const { id, failed } of sent) {
        if (failed.length > 0) await session.run(confirmPart, [id, failed]);
      }
    },
    async reopen({ olderThanMs, limit, lane, fence }) {
      return outboxOf(await session.fenced(fence, reopenOutbox, [olderThanMs, limit, lane ?? null]));
    },
    async requeueLost({ lane, evidence, olderThanMs, limit, fence }) {
      const values = [lane, olderThanMs, limit];
      const rows =
        evidence === "queue-empty"
          ? await session.fenced(fence, requeueUnqueued, values)
          : await session.fenced(fence, requeueOvertaken, [...values, overtakenSampleMax]);
      return rows.length;
    },
    async queueObservations({ maxAgeMs }) {
      const rows = await session.run(readObservations, [maxAgeMs]);
      return rows.map((row) => ({ lane: row.lane, emptyMs: row.empty_ms }));
    },
    async saveQueueObservations(observations) {
      if (observations.length === 0) return;
      await session.run(writeObservations, [
        observations.map(({ lane }) => lane),
        observations.map(({ emptyMs }) => emptyMs),
      ]);
    },
    async countNotYetDue({ lane, sinceMs, limit }) {
      const [row] = await session.run(countNotYetDue, [lane, sinceMs, deliveryLimits.queueDelayMsMax, limit]);
      return row?.n ?? 0;
    },
    async wake({ slotKeys, limit, fence }) {
      if (slotKeys === "all") return outboxOf(await session.fenced(fence, wakeAll, [limit]));
      if (slotKeys.length === 0 && fence === undefined) return [];
      return outboxOf(await session.fenced(fence, wakeKeys, [limit, slotKeys]));
    },
  };
}
