import { reasons } from "../job/reasons.ts";
import type { SlotGroup } from "../job/job.ts";
import type { ScheduleSpec } from "../ports/schedule.ts";

/**
 * The slots of a schedule's jobs. All share one, unless they may overlap. Caught-up jobs have another one first, so that only
 * one of them contends with the fires that are on time. It waits for its slot, whatever the schedule says about overlap.
 */
export function slotGroupsOfSchedule(spec: Pick<ScheduleSpec, "id" | "overlap">): readonly SlotGroup[] {
  const catchUp: SlotGroup = { key: catchUpKey(spec.id), size: 1, onRefusal: "hold", reason: "slot" };
  if (spec.overlap === "allow") return [catchUp];
  return [{ key: overlapKey(spec.id), size: 1, onRefusal: spec.overlap, reason: reasons.overlap }, catchUp];
}

/** The schedule's own slot keys of one job, beside those of its definition. */
export function slotKeysOfFire(spec: Pick<ScheduleSpec, "id" | "overlap">, isCatchUp: boolean): readonly string[] {
  const overlap = spec.overlap === "allow" ? [] : [overlapKey(spec.id)];
  return isCatchUp ? [catchUpKey(spec.id), ...overlap] : overlap;
}

const overlapKey = (id: string): string => `overlap:${id}`;
const catchUpKey = (id: string): string => `catchup:${id}`;
