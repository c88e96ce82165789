import { cleanText } from "../../core/clean.ts";
import { limits } from "../../core/limits.ts";
import type { Message, Store } from "../../core/ports.ts";
import { moveRows } from "./moved.ts";
import type { Session } from "./session.ts";
import { keepBodies, rescueLost, returnUndelivered } from "./sql/rescue.ts";

export function rescueStore(session: Session): Pick<Store, "rescue" | "undelivered" | "quarantine"> {
  return {
    rescue: ({ limit, interruptionsMax, lane, ...options }) =>
      moveRows(session, rescueLost, [limit, interruptionsMax, lane ?? null], options),
    undelivered: (messages, { undeliveredMax, backoffMs, ...options }) =>
      moveRows(session, returnUndelivered, [...messageColumns(messages), undeliveredMax, backoffMs], options),
    async quarantine(lane, bodies) {
      if (bodies.length === 0) return;
      await session.run(keepBodies, [lane, bodies.map((body) => cleanText(body, limits.quarantineCharactersMax))]);
    },
  };
}

/** The newest message of each job; an older one can change nothing. */
function messageColumns(messages: readonly Message[]): [string[], number[]] {
  const newest = new Map<string, number>();
  for (const { jobId, generation } of messages) newest.set(jobId, Math.max(generation, newest.get(jobId) ?? 0));
  return [[...newest.keys()], [...newest.values()]];
}
