import type { Instant } from "../machine/job.ts";
import { canonical } from "../define/payload.ts";
import type { ScheduleSpec } from "../machine/schedule.ts";
import { nextFire } from "../calendar/timetable.ts";

/**
 * Whether an edit withdraws the targets that a fan-out has prematerialized for a later nominal time. `spec` is the version
 * that decided the time, `next` the new one, null for a deletion. Targets that the new version would write too stay: an edit
 * of another setting must not cost them.
 */
export function isWithdrawn(
  { spec, nominalAt }: { readonly spec: ScheduleSpec; readonly nominalAt: Instant },
  next: ScheduleSpec | null,
): boolean {
  if (next === null || !next.enabled) return true;
  const isSame =
    next.job.kind === spec.job.kind &&
    next.timezone === spec.timezone &&
    next.spread?.offsetMs === spec.spread?.offsetMs &&
    canonical(next.payload) === canonical(spec.payload);
  return !isSame || nextFire(next, nominalAt - 1)?.instant !== nominalAt;
}
