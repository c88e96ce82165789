import { reasons } from "../machine/reasons.ts";
import type { UnitGate } from "./gate.ts";
import { waitsForSlot } from "./slots.ts";

/** At most `concurrency` jobs of a kind run at once; the others wait. */
export const capGate = {
  form: "unit",
  name: "cap",
  prefix: "cap",
  groupOf: ({ id, concurrency }) =>
    concurrency === null ? null : { key: `cap:${id}`, size: concurrency, onRefusal: "hold", reason: reasons.slot },
  refuses: { [reasons.slot]: {} },
  waits: waitsForSlot("cap"),
} as const satisfies UnitGate<{ readonly id: string; readonly concurrency: number | null }>;
