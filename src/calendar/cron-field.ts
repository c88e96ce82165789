/** One field of a cron expression: its bounds and names, and how its text becomes sorted values. */
export interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Names in the order of the values; the first is the value `firstName`. */
  readonly names: readonly string[];
  readonly firstName: number;
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
  firstName: min,
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
  if (name >= 0) return field.firstName + name;
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
