import type { Instant } from "../machine/job.ts";
import type { ScheduleSpec } from "../machine/schedule.ts";
import type { ScheduleVersion } from "../machine/schedule-store.ts";

/**
 * The interval `(from, until]` in which one version was in force. A time at the instant of an edit belongs to the version
 * before it.
 */
export interface VersionInterval {
  readonly version: number;
  readonly spec: ScheduleSpec;
  readonly from: Instant;
  readonly until: Instant;
}

/** The intervals of a schedule, oldest first; times when it was deleted are in none. */
export function versionIntervals(versions: readonly ScheduleVersion[]): readonly VersionInterval[] {
  return versions.flatMap(({ version, spec, fromAt }, index) => {
    const until = versions[index + 1]?.fromAt ?? Number.POSITIVE_INFINITY;
    return spec === null || until <= fromAt ? [] : [{ version, spec, from: fromAt, until }];
  });
}

/** The version in force at an instant; null when the schedule did not exist. */
export const versionIntervalAt = (versions: readonly ScheduleVersion[], instant: Instant): VersionInterval | null =>
  versionIntervals(versions).find((each) => each.from < instant && instant <= each.until) ?? null;
