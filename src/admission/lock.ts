import { reasons } from "../machine/reasons.ts";
import type { UnitGate } from "./gate.ts";
import { waitsForSlot } from "./slots.ts";

/** Of all kinds that name a lock one job runs; the others are skipped, and those that are caught up wait. */
export const lockGate = {
  form: "unit",
  name: "lock",
  prefix: "lock",
  groupOf: ({ lock: of }) =>
    of === null ? null : { key: `lock:${of.name}`, size: 1, onRefusal: "skip", reason: reasons.lockHeld },
  refuses: {
    [reasons.lockHeld]: {
      later: "its next attempt met another job that held its lock",
      time: ({ holder, again }) => [
        `${holder("another job")} held the lock its job needs`,
        `give the two different times or locks; ${again}`,
      ],
    },
  },
  waits: waitsForSlot("lock"),
} as const satisfies UnitGate<{ readonly lock: { readonly name: string } | null }>;
