import { limits } from "../../core/limits.ts";
import type { Store } from "../../core/ports/ports.ts";
import { handoffsOf } from "./handoffs.ts";
import type { Session } from "./session.ts";
import { confirmPart, confirmWhole, relayDue, reopenHandoffs } from "./sql/relay.ts";
import { countAhead, keepSights, readSights, requeueOvertaken, requeueUnqueued } from "./sql/requeue.ts";
import { wakeAll, wakeKeys } from "./sql/wake.ts";

type RelayPart = "relay" | "confirm" | "reopen" | "requeueLost" | "sights" | "keepSights" | "countAhead" | "wake";

export function relayStore(session: Session): Pick<Store, RelayPart> {
  return {
    async relay({ lookAheadMs, limit, lane, fence }) {
      return handoffsOf(await session.fenced(fence, relayDue, [lookAheadMs, limit, lane ?? null]));
    },
    async confirm(sent) {
      const whole = sent.filter((each) => each.failed.length === 0).map((each) => each.id);
      if (whole.length > 0) await session.run(confirmWhole, [whole]);
      for (const { id, failed } of sent) {
        if (failed.length > 0) await session.run(confirmPart, [id, failed]);
      }
    },
    async reopen({ olderThanMs, limit, lane, fence }) {
      return handoffsOf(await session.fenced(fence, reopenHandoffs, [olderThanMs, limit, lane ?? null]));
    },
    async requeueLost({ lane, evidence, olderThanMs, limit, fence }) {
      const values = [lane, olderThanMs, limit];
      const rows =
        evidence === "queue-empty"
          ? await session.fenced(fence, requeueUnqueued, values)
          : await session.fenced(fence, requeueOvertaken, [...values, limits.runningSampleMax]);
      return rows.length;
    },
    async sights({ maxAgeMs }) {
      const rows = await session.run(readSights, [maxAgeMs]);
      return rows.map((row) => ({ lane: row.lane, emptyMs: row.empty_ms }));
    },
    async keepSights(sights) {
      if (sights.length === 0) return;
      await session.run(keepSights, [sights.map(({ lane }) => lane), sights.map(({ emptyMs }) => emptyMs)]);
    },
    async countAhead({ lane, sinceMs, limit }) {
      const [row] = await session.run(countAhead, [lane, sinceMs, limits.queueDelayMsMax, limit]);
      return row?.n ?? 0;
    },
    async wake({ slotKeys, limit, fence }) {
      if (slotKeys === "all") return handoffsOf(await session.fenced(fence, wakeAll, [limit]));
      if (slotKeys.length === 0 && fence === undefined) return [];
      return handoffsOf(await session.fenced(fence, wakeKeys, [limit, slotKeys]));
    },
  };
}
