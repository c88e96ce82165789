/** The fields of a cron expression: their bounds and names, how their texts become sorted values, and which days they name. */
export interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names in the order of the values, from `min` on. */
  readonly names: readonly string[];
  /** A value above `max` that is read as `min` (7 is Sunday in five-field cron); null when there is none. */
  readonly alias: number | null;
}

const monthNames = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const dayNames = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

const define = (
  name: string,
  [min, max]: readonly [min: number, max: number],
  names: readonly string[] = [],
  alias: number | null = null,
) => ({
  name,
  min,
  max,
  names,
  alias,
});

export const fields = {
  minute: define("minute", [0, 59]),
  hour: define("hour", [0, 23]),
  dayOfMonth: define("day of month", [1, 31]),
  month: define("month", [1, 12], monthNames),
  dayOfWeek: define("day of week", [0, 6], dayNames, 7),
  awsDayOfWeek: define("day of week", [1, 7], dayNames),
  year: define("year", [1970, 2199]),
} as const satisfies Record<string, Field>;

/** A mistake in an expression, worded for its author. `parseCron` catches it. */
export class CronProblem extends Error {}

export function refuse(field: Field, value: string, rule: string): never {
  throw new CronProblem(`${field.name} "${value}": ${rule}`);
}

/** What the plain parts of a field's list say. */
export interface FieldValues {
  /** Sorted, without repeats. */
  readonly values: readonly number[];
  /** Steps that do not divide the field evenly, for a note. */
  readonly unevenSteps: readonly number[];
}

/** Splits a list; an empty item is a mistake. */
export function listItems(field: Field, text: string): readonly string[] {
  const items = text.split(",");
  if (items.some((item) => item === "")) refuse(field, text, "has an empty item in its list");
  return items;
}

/** Reads a field that holds only values, ranges, steps and `*`. */
export function parseValues(field: Field, items: readonly string[]): FieldValues {
  const values = new Set<number>();
  const unevenSteps = new Set<number>();
  for (const item of items) {
    const part = parseItem(field, item);
    for (const value of part.values) values.add(value);
    if (part.unevenStep !== null) unevenSteps.add(part.unevenStep);
  }
  return { values: [...values].toSorted((a, b) => a - b), unevenSteps: [...unevenSteps] };
}

interface Item {
  readonly values: readonly number[];
  readonly unevenStep: number | null;
}

function parseItem(field: Field, item: string): Item {
  const [base = "", stepText, ...more] = item.split("/");
  if (more.length > 0) refuse(field, item, "has more than one `/`");
  const size = field.max - field.min + 1;
  const step = stepText === undefined ? 1 : parseStep(field, item, stepText, size);
  return {
    values: parseRange(field, item, base, stepText !== undefined).filter((_, index) => index % step === 0),
    unevenStep: !base.includes("-") && size % step !== 0 ? step : null,
  };
}

function parseStep(field: Field, item: string, text: string, size: number): number {
  if (!/^\d{1,4}$/.test(text)) refuse(field, item, "the step after `/` is a whole number");
  const step = Number(text);
  if (step === 0) refuse(field, item, "a step is at least 1");
  if (step > size) refuse(field, item, `a step larger than the field (${size} values) is not possible`);
  return step;
}

/** The values from the low end to the high end, in order; a range whose end lies before its start wraps round. */
function parseRange(field: Field, item: string, base: string, hasStep: boolean): readonly number[] {
  if (base === "*") return span(field, field.min, field.max);
  const [lowText = "", highText, ...more] = base.split("-");
  if (more.length > 0) refuse(field, item, "has more than one `-`");
  const low = parseValue(field, item, lowText);
  if (highText === undefined) return hasStep ? span(field, wrapped(field, low), field.max) : [wrapped(field, low)];
  const high = parseValue(field, item, highText);
  if (field.name === "year" && high < low) refuse(field, item, "a range of years ends after it starts");
  return high >= low ? span(field, low, high) : [...span(field, low, field.max), ...span(field, field.min, high)];
}

const wrapped = (field: Field, value: number): number => (value === field.alias ? field.min : value);

/** `high` may be the alias (SAT-7). The 7 of `0-7` repeats 0, and the set of values drops it. */
function span(field: Field, low: number, high: number): readonly number[] {
  return Array.from({ length: high - low + 1 }, (_, index) => wrapped(field, low + index));
}

/** A number or a name; an alias stays as it is, so that `5-7` is a rising range. */
export function parseValue(field: Field, item: string, text: string): number {
  const name = field.names.indexOf(text.toUpperCase());
  if (name >= 0) return field.min + name;
  const highest = field.alias ?? field.max;
  if (!/^\d{1,4}$/.test(text)) refuse(field, item, explainValue(field, text, highest));
  const value = Number(text);
  if (value < field.min || value > highest) refuse(field, item, `values go from ${field.min} to ${highest}`);
  return value;
}

function explainValue(field: Field, text: string, highest: number): string {
  const [first] = field.names;
  const names = first === undefined ? "" : ` or ${first} to ${field.names.at(-1)}`;
  const what = text === "" ? "a number is missing" : `"${text}" is not a value of this field`;
  return `${what}: write ${field.min} to ${highest}${names}, a range a-b, a step */n or a/n, or a list`;
}

/** The texts of the fields; `year` is null in the five-field form. */
export interface CronParts {
  readonly minute: string;
  readonly hour: string;
  readonly dayOfMonth: string;
  readonly month: string;
  readonly dayOfWeek: string;
  readonly year: string | null;
}

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
