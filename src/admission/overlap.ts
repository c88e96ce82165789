import type { Instant } from "../machine/job.ts";
import { iso } from "../machine/units.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { reasons } from "../machine/reasons.ts";
import type { Overlap } from "../machine/schedule.ts";
import type { UnitGate } from "./gate.ts";
import { waitsForSlot } from "./slots.ts";

/** Who cancels what a later time of a schedule replaces; and the condition that finds this caller in a column. */
export const replacerOf = (schedule: string, at: Instant): string => `schedule ${schedule}, its time ${iso(at)}`;
export const isReplacer = (column: string): string => `${column} like 'schedule %, its time %'`;

/** All jobs of a schedule share one slot, unless they may overlap. */
export const overlapGate = {
  form: "unit",
  name: "overlap",
  prefix: "overlap",
  groupOf({ id, overlap }) {
    if (overlap === "allow") return null;
    const group = { key: `overlap:${id}`, size: 1, reason: reasons.overlap } as const;
    if (overlap === "cancel-running") return { ...group, onRefusal: "hold", reason: reasons.replaced };
    return { ...group, onRefusal: overlap === "queue-all" ? "hold" : overlap };
  },
  refuses: {
    [reasons.overlap]: {
      later: "its next attempt met a later job of the schedule that was still going",
      time: ({ holder, holderNoun, overlap, again }) => [
        overlap === "queue-all"
          ? `${holder("the job of an earlier time")} was still going, and ${contractLimits.overlapWaitingMax} others waited, which is the most of one schedule`
          : `${holder("the job of an earlier time")} was still going, and overlap says so`,
        overlap === "queue-all"
          ? `shorten the ${holderNoun} or fire less often; ${again}`
          : `shorten the ${holderNoun}, fire less often, or use overlap: "queue-one", "queue-all" or "allow"; ${again}`,
      ],
    },
    [reasons.replaced]: {
      time: ({ again }) => [
        `a later time was to start, and under overlap "cancel-running" only the latest does`,
        again,
      ],
    },
  },
  waits: waitsForSlot("overlap"),
} as const satisfies UnitGate<{ readonly id: string; readonly overlap: Overlap }>;
