import { deliveryLimits } from "../machine/delivery-limits.ts";
import type { Fence } from "../machine/fence.ts";
import type { LeftTurns } from "../machine/turn.ts";
import type { TurnStore } from "../machine/turn-store.ts";
import { outboxOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import type { DispatchedRow } from "./sql/dispatch.ts";
import { writePlace } from "./sql/pass-place.ts";
import { lockTurnLane, markTurns, takeTurns, turnLanesOpen, unmarkedTurns, writeTurnLanes } from "./sql/turn.ts";
import { columns, execute } from "./statement.ts";

export function turnStore(session: Session): TurnStore {
  return {
    async installTurns(lanes) {
      const values = columns(lanes, "lane", "places", "ahead", "agingMs");
      if (lanes.length > 0) await session.run(writeTurnLanes, values);
    },
    async takeTurns({ of, limit, fence }) {
      const rows: DispatchedRow[] = [];
      for (const lane of await openLanes(session, of, fence)) {
        const taken = await session.transaction(async (tx) => {
          await execute(tx, lockTurnLane, [lane]);
          return await execute(tx, takeTurns, [lane, limit]);
        }, fence);
        rows.push(...taken);
      }
      return outboxOf(rows);
    },
  };
}

/** Marks the keys, then looks which lanes have room: most calls end here, without a lock. */
async function openLanes(
  session: Session,
  of: LeftTurns | "all",
  fence: Fence | undefined,
): Promise<readonly string[]> {
  if (of === "all") await markNext(session, fence);
  else if (of.keys.length > 0) {
    const marked = await session.run(markTurns, [of.keys]);
    const open = await session.run(turnLanesOpen, [marked.map(({ lane }) => lane), false]);
    if (of.lanes.length === 0) return open.map(({ lane }) => lane);
  }
  const open = await session.run(turnLanesOpen, of === "all" ? [null, false] : [of.lanes, true]);
  return open.map(({ lane }) => lane);
}

/** One window of keys: those of retries that became due, and what a crash left out. The next pass goes on behind it. */
async function markNext(session: Session, fence: Fence | undefined): Promise<void> {
  const { wakeKeysMax } = deliveryLimits;
  const [found] = await session.run(unmarkedTurns, [wakeKeysMax]);
  if (found === undefined) return;
  if (found.unmarked.length > 0) await session.fenced(fence, markTurns, [found.unmarked]);
  await session.fenced(fence, writePlace, ["turns", found.seen < wakeKeysMax ? "" : (found.last ?? "")]);
}
