/** An oracle for calendars that shares nothing with the code under test: dates are texts, and it walks from day to day. */
import type { CalendarDays, CalendarRule } from "../../src/machine/schedule.ts";

const dayMs = 86_400_000;
export const dateOfReading = (reading: number): string => new Date(reading).toISOString().slice(0, 10);
const weekday = (date: string): string => new Date(`${date}T00:00Z`).toUTCString().slice(0, 3).toLowerCase();

function entryOf({ dates, weekdays, yearly }: CalendarDays, date: string): string | undefined {
  return (
    dates.find((text) => date >= text.slice(0, 10) && date <= (/\.\.(\S+)/.exec(text)?.[1] ?? text.slice(0, 10))) ??
    weekdays.find((name) => name === weekday(date)) ??
    yearly.find((text) => {
      const day = date.slice(5);
      const [from, to] = [text.slice(0, 5), /\.\.(\S+)/.exec(text)?.[1] ?? text.slice(0, 5)];
      return from <= to ? day >= from && day <= to : day >= from || day <= to;
    })
  );
}

/** The calendar and its entry, or null for a day that is not excluded. */
export function excludedByHand({ except, only }: CalendarRule, date: string): string | null {
  for (const calendar of except) {
    const entry = entryOf(calendar, date);
    if (entry !== undefined) return `${calendar.id}: ${entry}`;
  }
  if (only === null || entryOf(only, date) !== undefined) return null;
  return `${only.id}: not one of its days`;
}

/** By how many milliseconds the readings of an excluded day move; null: they are skipped. */
export function shiftByHand(rule: CalendarRule, date: string): number | null {
  if (rule.onExcluded === "skip") return null;
  const step = rule.onExcluded.startsWith("next") ? dayMs : -dayMs;
  const named = [...rule.except, ...(rule.only === null ? [] : [rule.only])].some(
    ({ weekdays }) => weekdays.length > 0,
  );
  for (let shift = step; Math.abs(shift) <= 31 * dayMs; shift += step) {
    const day = dateOfReading(Date.parse(`${date}T00:00Z`) + shift);
    const isFree = rule.onExcluded.endsWith("business-day") && !named && ["sat", "sun"].includes(weekday(day));
    if (!isFree && excludedByHand(rule, day) === null) return shift;
  }
  return null;
}
