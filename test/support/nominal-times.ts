import type { Dst, NominalTime } from "../../src/core/calendar/fires.ts";
import { take, timetable } from "../../src/core/calendar/timetable.ts";
import type { Instant } from "../../src/core/job/job.ts";
import type { Expression } from "../../src/core/ports/schedule.ts";

/** At most `max` nominal times in `(afterExclusive, untilInclusive]`, and with the last one all of its instant. */
export function nominalTimes(
  expression: Expression,
  timezone: string,
  dst: Dst,
  window: { readonly afterExclusive: Instant; readonly untilInclusive: Instant; readonly max: number },
): readonly NominalTime[] {
  const table = timetable({ expression, timezone, dst, startAt: null, endAt: null });
  return take(table.times(window.afterExclusive, window.untilInclusive), window.max);
}
