import * as fc from "fast-check";
import type { CalendarDays, CalendarRule } from "../../src/machine/schedule.ts";
import { dateOfReading } from "./calendar-by-hand.ts";
import { hour } from "./spec.ts";

/** Days are counted from the day on which the stretch begins. */
export const calendars = fc.record({
  holidays: fc.uniqueArray(fc.integer({ min: -1, max: 6 }), { minLength: 1, maxLength: 3 }),
  weekend: fc.boolean(),
  only: fc.constantFrom(null, null, null, ["mon", "tue", "wed", "thu"] as const, ["sat", "sun", "wed"] as const),
  onExcluded: fc.constantFrom(
    "skip" as const,
    "next" as const,
    "previous" as const,
    "next-business-day" as const,
    "previous-business-day" as const,
  ),
});
type Choice = typeof calendars extends fc.Arbitrary<infer C> ? C : never;

export function calendarsOf({ holidays, weekend, only, onExcluded }: Choice, start: number): CalendarRule {
  const dates = holidays.toSorted((a, b) => a - b).map((day) => dateOfReading(start + day * 24 * hour));
  const none = { dates: [], weekdays: [], yearly: [] };
  const closed: CalendarDays[] = [{ ...none, id: "holidays", dates }];
  if (weekend) closed.push({ ...none, id: "weekend", weekdays: ["sun", "sat"] });
  return { except: closed, only: only === null ? null : { ...none, id: "open", weekdays: only }, onExcluded };
}
