import type { Dst, NominalTime } from "../../src/calendar/fires.ts";
import { take, timetable } from "../../src/calendar/timetable.ts";
import type { Instant } from "../../src/machine/job.ts";
import type { Expression } from "../../src/machine/schedule.ts";

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
