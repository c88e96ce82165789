import { reasons } from "../machine/reasons.ts";
import { capGate } from "./cap.ts";
import type { UnitGate } from "./gate.ts";
import { waitsForSlot } from "./slots.ts";

/** Jobs that make up for missed times come one at a time, so that only one of them contends with those that are on time. */
export const catchUpGate = {
  form: "unit",
  name: "catch-up",
  prefix: "catchup",
  groupOf: ({ id }) => ({ key: `catchup:${id}`, size: 1, onRefusal: "hold", reason: reasons.slot }),
  refuses: capGate.refuses,
  waits: waitsForSlot("catchup"),
} as const satisfies UnitGate<{ readonly id: string }>;
