import { reasons } from "../machine/reasons.ts";
import { capGate } from "./cap.ts";
import type { UnitGate } from "./gate.ts";
import { waitsForSlot } from "./slots.ts";

/** The backfilled jobs of a schedule come one at a time, apart from those that are on time or caught up. */
export const backfillGate = {
  form: "unit",
  name: "backfill",
  prefix: "backfill",
  groupOf: ({ id }) => ({ key: `backfill:${id}`, size: 1, onRefusal: "hold", reason: reasons.slot }),
  refuses: capGate.refuses,
  waits: waitsForSlot("backfill"),
} as const satisfies UnitGate<{ readonly id: string }>;
