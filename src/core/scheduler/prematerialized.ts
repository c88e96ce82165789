import type { Instant } from "../job/job.ts";
import { canonical } from "../define/new-job.ts";
import type { ScheduleSpec } from "../ports/schedule.ts";
import { nextFire } from "../calendar/timetable.ts";

/**
 * Whether an edit takes back what a fan-out has written ahead for a nominal time to come. `spec` is the version that decided
 * the time, `next` the new one; null when the schedule is deleted. What it would write once more stays: an edit of another
 * setting shortly before the time must not cost all its targets.
 */
export function isWithdrawn(
  { spec, nominalAt }: { readonly spec: ScheduleSpec; readonly nominalAt: Instant },
  next: ScheduleSpec | null,
): boolean {
  if (next === null || !next.enabled) return true;
  const isSame =
    next.job.kind === spec.job.kind &&
    next.timezone === spec.timezone &&
    canonical(next.payload) === canonical(spec.payload);
  return !isSame || nextFire(next, nominalAt - 1)?.instant !== nominalAt;
}
