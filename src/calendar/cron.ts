/**
 * The cron evaluator's front door: text in, checked data out. Five fields (minute hour day-of-month month day-of-week),
 * a macro such as `@daily`, or AWS's six-field `cron(...)`. Pure, with the readings of a clock that it matches; zones are in `fires.ts`.
 */
import { splitAws } from "./aws-cron.ts";
import {
  type CronParts,
  CronProblem,
  type DayOfMonth,
  type DayOfWeek,
  type Field,
  fields,
  type FieldValues,
  listItems,
  matchingDays,
  monthLength,
  parseDayOfMonth,
  parseDayOfWeek,
  parseValues,
  refuse,
} from "./cron-field.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Instant } from "../machine/job.ts";
import { dayMs, hourMs, minuteMs } from "../machine/units.ts";

/** A checked expression. Values are sorted; weekdays are 0 (Sunday) to 6 in both forms. */
export interface CronRule {
  readonly text: string;
  readonly form: "five" | "aws";
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: readonly number[];
  readonly dayOfMonth: DayOfMonth;
  readonly dayOfWeek: DayOfWeek;
  /** Only the AWS form restricts years; null is every year. */
  readonly years: readonly number[] | null;
  /**
   * It names every hour. Under `dst: auto` it fires in both passes of an overlap, and its readings in a gap are SKIPPED. Any
   * other expression, also a daily window, fires a repeated reading once and a missing one at the end of the gap.
   */
  readonly isInterval: boolean;
}

/** `problem` names the field, the value and the rule. `notes` say what a reader may not expect; `check` prints them. */
export type ParsedCron =
  | { readonly ok: true; readonly cron: CronRule; readonly notes: readonly string[] }
  | { readonly ok: false; readonly problem: string };

/** Never throws. An AWS expression whose years are over is accepted; `nextFire` returns null for it. */
export function parseCron(text: string): ParsedCron {
  if (text.length > contractLimits.cronCharactersMax) {
    return {
      ok: false,
      problem: `cron "${text.slice(0, 40)}...": ${text.length} characters, at most ${contractLimits.cronCharactersMax}`,
    };
  }
  try {
    const parsed = text.startsWith("cron(") ? parseAws(text) : parseFive(text);
    if (!canFire(parsed.cron)) throw new CronProblem(neverFires(parsed.cron));
    return { ok: true, ...parsed };
  } catch (error) {
    if (!(error instanceof CronProblem)) throw error;
    return { ok: false, problem: `cron "${text}": ${error.message}` };
  }
}

/** Names of five fields. */
export const cronMacros: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

interface Parsed {
  readonly cron: CronRule;
  readonly notes: readonly string[];
}

const hoursOfDay = 24;

function parseFive(text: string): Parsed {
  const trimmed = text.trim();
  const parts = (trimmed.startsWith("@") ? expandMacro(trimmed) : trimmed).split(/\s+/);
  if (parts.length !== 5) throw new CronProblem(wrongFieldCount(trimmed, parts));
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = ""] = parts;
  return build(text, "five", { minute, hour, dayOfMonth, month, dayOfWeek, year: null }, fields.dayOfWeek);
}

function parseAws(text: string): Parsed {
  return build(text, "aws", splitAws(text), fields.awsDayOfWeek);
}

function build(text: string, form: CronRule["form"], parts: CronParts, weekdays: Field): Parsed {
  const minutes = plain(fields.minute, parts.minute);
  const hours = plain(fields.hour, parts.hour);
  const dayOfMonth = parseDayOfMonth(parts.dayOfMonth);
  const months = plain(fields.month, parts.month);
  const dayOfWeek = parseDayOfWeek(parts.dayOfWeek, weekdays);
  const cron: CronRule = {
    text,
    form,
    minutes: minutes.values,
    hours: hours.values,
    months: months.values,
    dayOfMonth,
    dayOfWeek,
    years: parts.year === null || parts.year === "*" ? null : plain(fields.year, parts.year).values,
    isInterval: hours.values.length === hoursOfDay,
  };
  return { cron, notes: [...eitherDay(cron, parts), ...uneven(fields.minute, minutes), ...uneven(fields.hour, hours)] };
}

function plain(field: Field, text: string): FieldValues {
  if (text.includes("?")) refuse(field, text, "`?` is only for day of month and day of week; write `*`");
  return parseValues(field, listItems(field, text));
}

function eitherDay(cron: CronRule, parts: CronParts): readonly string[] {
  if (cron.dayOfMonth.any || cron.dayOfWeek.any) return [];
  return [
    `day of month "${parts.dayOfMonth}" and day of week "${parts.dayOfWeek}" are both restricted: ` +
      "it fires on a day that matches either, as in crontab(5)",
  ];
}

function uneven(field: Field, values: FieldValues): readonly string[] {
  return values.unevenSteps.map(
    (step) =>
      `${field.name} step ${step} does not divide ${field.max + 1}: the last interval of each ` +
      `${field.name === "minute" ? "hour" : "day"} is shorter; \`every\` counts elapsed time`,
  );
}

function expandMacro(text: string): string {
  const expanded = cronMacros[text.toLowerCase()];
  if (expanded === undefined)
    throw new CronProblem(`is not a macro: write one of ${Object.keys(cronMacros).join(" ")}, or five fields`);
  return expanded;
}

function wrongFieldCount(text: string, parts: readonly string[]): string {
  const order = "minute, hour, day of month, month, day of week";
  if (/^(rate|at)\(/.test(text)) return "is not a cron expression: write `every` for rate(...) and `at` for at(...)";
  if (parts.length === 6 && parts.includes("?"))
    return `has six fields: write AWS's form as "cron(${parts.join(" ")})"`;
  if (parts.length === 6) return `has six fields: seconds are not supported; write "${parts.slice(1).join(" ")}"`;
  return `has ${text === "" ? "no" : parts.length} field${parts.length === 1 && text !== "" ? "" : "s"}, it takes five: ${order}`;
}

/** There are fourteen kinds of years: leap or not, by the weekday of January 1. All of them lie in these 28 years. */
const everyKindOfYear = parseValues(fields.year, ["2001-2028"]).values;

function canFire(cron: CronRule): boolean {
  return (cron.years ?? everyKindOfYear).some((year) =>
    cron.months.some((month) => daysOf(cron, year, month).length > 0),
  );
}

function neverFires(cron: CronRule): string {
  const when = cron.years === null ? "in any year" : "in its years";
  return `can never fire: no day matches its day of month, month and day of week ${when}`;
}

/** The days of a month on which the expression fires, sorted; months and years that do not match give none. */
export function daysOf(cron: CronRule, year: number, month: number): readonly number[] {
  if (!cron.months.includes(month) || (cron.years !== null && !cron.years.includes(year))) return [];
  const firstWeekday = new Date(Date.UTC(year, month - 1, 1)).getUTCDay();
  return matchingDays(cron.dayOfMonth, cron.dayOfWeek, firstWeekday, monthLength(year, month));
}

/**
 * A reading: one minute (or second) of a wall clock, as the milliseconds UTC would have if its clock read the same.
 * `reading = instant + offset`. Readings know nothing of zones: also those that a clock skips exist here.
 */
export type WallTime = number;

/** The readings that an expression matches in `[from, before)`, in order. The caller bounds the search by `before`. */
export function* wallTimes(cron: CronRule, from: WallTime, before: WallTime): Generator<WallTime, void, undefined> {
  const start = new Date(from);
  for (let months = 0; ; months++) {
    const monthStart = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + months, 1);
    if (!(monthStart < before)) return;
    const month = new Date(monthStart);
    for (const day of daysOf(cron, month.getUTCFullYear(), month.getUTCMonth() + 1)) {
      const dayStart = monthStart + (day - 1) * dayMs;
      if (dayStart + dayMs > from) yield* readingsOfDay(cron, dayStart, from, before);
    }
  }
}

function* readingsOfDay(
  cron: CronRule,
  dayStart: WallTime,
  from: WallTime,
  before: WallTime,
): Generator<WallTime, void, undefined> {
  for (const hour of cron.hours) {
    const hourStart = dayStart + hour * hourMs;
    if (hourStart + hourMs <= from) continue;
    for (const minute of cron.minutes) {
      const reading = hourStart + minute * minuteMs;
      if (reading >= before) return;
      if (reading >= from) yield reading;
    }
  }
}

/** `YYYY-MM-DDTHH:MM`. */
export const minuteText = (reading: WallTime): string => new Date(reading).toISOString().slice(0, 16);

/** `YYYY-MM-DDTHH:MM:SS`, with milliseconds only where there are some, so that two instants never share a text. */
export const secondText = (instant: Instant): string => new Date(instant).toISOString().replace(/(?:\.000)?Z$/, "");
