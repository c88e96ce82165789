import { catchUpGate } from "../admission/catch-up.ts";
import { scheduleGates } from "../admission/gates.ts";
import { overlapGate } from "../admission/overlap.ts";
import type { SlotGroup } from "../machine/job.ts";
import type { ScheduleSpec } from "../machine/schedule.ts";

type Spec = Pick<ScheduleSpec, "id" | "overlap">;

export const slotGroupsOfSchedule = (spec: Spec): readonly SlotGroup[] =>
  scheduleGates.flatMap((gate) => gate.groupOf(spec) ?? []);

/**
 * The schedule's own slot keys of one job, beside those of its definition. A caught-up job waits for its slot, whatever the
 * schedule says about overlap.
 */
export function slotKeysOfFire(spec: Spec, isCatchUp: boolean): readonly string[] {
  const both = isCatchUp ? [catchUpGate, overlapGate] : [overlapGate];
  return both.flatMap((gate) => gate.groupOf(spec)?.key ?? []);
}
