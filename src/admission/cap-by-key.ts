import { reasons } from "../machine/reasons.ts";
import { capGate } from "./cap.ts";
import type { UnitGate } from "./gate.ts";
import { waitsForPlace } from "./slots.ts";

/** How many jobs of one key run at once. */
export interface CapByKey {
  readonly perKey: number;
  readonly key: (payload: unknown) => string;
}

/** At most `perKey` jobs of a kind and a key run at once; the others wait. Its slots are made at the first claim of a key. */
export const capByKeyGate = {
  form: "unit",
  name: "cap-by-key",
  prefix: "cap",
  groupOf: ({ id, concurrencyByKey: of }) =>
    of === null ? null : { key: `cap:${id}#`, size: of.perKey, onRefusal: "hold", reason: reasons.slot },
  field: "concurrency",
  keyOf: ({ concurrencyByKey: of }, payload) => of?.key(payload) ?? "",
  refuses: capGate.refuses,
  waits: waitsForPlace,
} as const satisfies UnitGate<{ readonly id: string; readonly concurrencyByKey: CapByKey | null }>;
