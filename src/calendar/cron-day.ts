import { type Field, fields, listItems, parseValue, parseValues, refuse } from "./cron-field.ts";

/** Which days of a month an expression names. `any`: the field is `*` or `?` and restricts nothing. */
export interface DayOfMonth {
  readonly any: boolean;
  readonly days: readonly number[];
  /** Days back from the last one: `L` is 0, `L-3` is 3. */
  readonly fromLast: readonly number[];
  /** `15W`: the weekday nearest to the 15th, within the month. */
  readonly nearest: readonly number[];
  /** `LW` is 0, `L-3W` is 3: the weekday nearest to that many days before the last one. */
  readonly nearestFromLast: readonly number[];
}

/** Weekdays 0 (Sunday) to 6. `nth` is `5#2`, `last` is `5L`. */
export interface DayOfWeek {
  readonly any: boolean;
  readonly days: readonly number[];
  readonly nth: readonly { readonly weekday: number; readonly n: number }[];
  readonly last: readonly number[];
}

const anyOf = (text: string): boolean => text === "*" || text === "?";

export function parseDayOfMonth(text: string): DayOfMonth {
  const field = fields.dayOfMonth;
  if (anyOf(text)) return { any: true, days: [], fromLast: [], nearest: [], nearestFromLast: [] };
  const plain: string[] = [];
  const fromLast: number[] = [];
  const nearest: number[] = [];
  const nearestFromLast: number[] = [];
  for (const item of listItems(field, text)) {
    const upper = item.toUpperCase();
    if (upper === "L") fromLast.push(0);
    else if (upper === "LW" || upper === "WL") nearestFromLast.push(0);
    else if (/^L-.*W$/.test(upper)) nearestFromLast.push(daysBack(field, item, upper.slice(2, -1)));
    else if (upper.startsWith("L-")) fromLast.push(daysBack(field, item, upper.slice(2)));
    else if (upper.endsWith("W")) nearest.push(nearestDay(field, item, upper.slice(0, -1)));
    else plain.push(item);
  }
  return { any: false, days: parseValues(field, plain).values, fromLast, nearest, nearestFromLast };
}

function daysBack(field: Field, item: string, text: string): number {
  if (!/^(?:[0-2]?\d|30)$/.test(text))
    refuse(field, item, "`L-n` counts 0 to 30 days back from the last day of the month");
  return Number(text);
}

function nearestDay(field: Field, item: string, text: string): number {
  if (!/^\d{1,2}$/.test(text)) refuse(field, item, "`W` follows one day, for example 15W, or write LW");
  return parseValue(field, item, text);
}

/** `field` is the five-field or the AWS numbering; the result is always 0 (Sunday) to 6. */
export function parseDayOfWeek(text: string, field: Field): DayOfWeek {
  if (anyOf(text)) return { any: true, days: [], nth: [], last: [] };
  const plain: string[] = [];
  const nth: { weekday: number; n: number }[] = [];
  const last: number[] = [];
  for (const item of listItems(field, text)) {
    const upper = item.toUpperCase();
    if (upper.includes("#")) nth.push(nthWeekday(field, item));
    else if (upper === "L") plain.push(lastOfWeek(field, item));
    else if (upper.endsWith("L")) last.push(weekday(field, item, item.slice(0, -1)));
    else plain.push(item);
  }
  const days = parseValues(field, plain).values.map((value) => value - field.min);
  return { any: false, days, nth, last };
}

/** AWS reads a bare `L` as the last day of the week, Saturday. In five fields it is a likely slip for `5L`. */
function lastOfWeek(field: Field, item: string): string {
  if (field.alias !== null) refuse(field, item, "`L` follows a weekday: 5L is the last Friday of the month");
  return String(field.max);
}

function weekday(field: Field, item: string, text: string): number {
  return (parseValue(field, item, text) - field.min) % 7;
}

function nthWeekday(field: Field, item: string): { weekday: number; n: number } {
  const [day = "", n = "", ...more] = item.split("#");
  if (more.length > 0 || !/^[1-5]$/.test(n))
    refuse(field, item, "`#` takes a weekday and 1 to 5: 5#2 is the second Friday");
  return { weekday: weekday(field, item, day), n: Number(n) };
}

/**
 * The days of one month that fire, sorted. Both fields restricted: either matches, as in crontab(5).
 * `firstWeekday` is the weekday of day 1, `length` the number of days.
 */
export function matchingDays(
  dayOfMonth: DayOfMonth,
  dayOfWeek: DayOfWeek,
  firstWeekday: number,
  length: number,
): readonly number[] {
  const isEvery = dayOfMonth.any && dayOfWeek.any;
  // Some of them lie beyond an end of this month.
  const named = new Set<number>();
  addDaysOfMonth(named, dayOfMonth, firstWeekday, length);
  addWeekdays(named, dayOfWeek, firstWeekday, length);
  const days: number[] = [];
  for (let day = 1; day <= length; day++) if (isEvery || named.has(day)) days.push(day);
  return days;
}

function addDaysOfMonth(named: Set<number>, rule: DayOfMonth, firstWeekday: number, length: number): void {
  for (const day of rule.days) named.add(day);
  for (const back of rule.fromLast) named.add(length - back);
  for (const day of rule.nearest) if (day <= length) named.add(nearestWeekday(day, firstWeekday, length));
  for (const back of rule.nearestFromLast)
    if (back < length) named.add(nearestWeekday(length - back, firstWeekday, length));
}

/** Saturday moves back and Sunday forward, unless that leaves the month: then to the weekday on the other side. */
function nearestWeekday(day: number, firstWeekday: number, length: number): number {
  const weekday = (firstWeekday + day - 1) % 7;
  if (weekday === 6) return day === 1 ? 3 : day - 1;
  if (weekday === 0) return day === length ? day - 2 : day + 1;
  return day;
}

function addWeekdays(named: Set<number>, rule: DayOfWeek, firstWeekday: number, length: number): void {
  for (const weekday of rule.days)
    for (let day = firstDay(weekday, firstWeekday); day <= length; day += 7) named.add(day);
  for (const { weekday, n } of rule.nth) named.add(firstDay(weekday, firstWeekday) + (n - 1) * 7);
  for (const weekday of rule.last) {
    const first = firstDay(weekday, firstWeekday);
    named.add(first + Math.floor((length - first) / 7) * 7);
  }
}

const firstDay = (weekday: number, firstWeekday: number): number => ((weekday - firstWeekday + 7) % 7) + 1;

/** Days in the month, proleptic Gregorian: the day before the first one of the next. */
export const monthLength = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate();
