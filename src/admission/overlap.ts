import { reasons } from "../machine/reasons.ts";
import type { UnitGate } from "./gate.ts";
import { waitsForSlot } from "./slots.ts";

/** All jobs of a schedule share one slot, unless they may overlap. */
export const overlapGate = {
  form: "unit",
  name: "overlap",
  prefix: "overlap",
  groupOf: ({ id, overlap: onRefusal }) =>
    onRefusal === "allow" ? null : { key: `overlap:${id}`, size: 1, onRefusal, reason: reasons.overlap },
  refuses: {
    [reasons.overlap]: {
      job: "another job of its schedule was still going",
      later: "its next attempt met a later job of the schedule that was still going",
      time: ({ holder, holderNoun, again }) => [
        `${holder("the job of an earlier time")} was still going, and overlap says so`,
        `shorten the ${holderNoun}, fire less often, or use overlap: "queue-one" or "allow"; ${again}`,
      ],
    },
  },
  waits: waitsForSlot("overlap"),
} as const satisfies UnitGate<{ readonly id: string; readonly overlap: "skip" | "queue-one" | "allow" }>;
