import { dateOf, dayOf } from "../calendar/days.ts";
import { readIcs } from "../calendar/ics.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import { type CalendarDays, type Weekday, weekdayNames } from "../machine/schedule.ts";
import { dayMs, hourMs, minuteMs } from "../machine/units.ts";
import { type Problem, ProblemList } from "./problem.ts";
import { checkId } from "./setting.ts";

/** A holiday as libraries give it (`date-holidays`): from `date` on for as long as from `start` to `end`. A day of which it has a part counts. */
export interface HolidayDate {
  /** `YYYY-MM-DD` by the clock of its country, also with `HH:MM:SS`. */
  readonly date: string;
  readonly start?: Date;
  readonly end?: Date;
  /** Cut to 80 characters. */
  readonly name?: string;
}

export interface CalendarOptions {
  /** Shown in the ledger where it excludes a day. Default `calendar`. */
  readonly id?: string;
  /** Local dates: `2026-12-25`, `2026-12-24..2027-01-01`, each with a name if you like (`2026-12-25 Christmas`), or holidays of a library. */
  readonly dates?: readonly (string | HolidayDate)[];
  /** In every week: `["sat", "sun"]`. */
  readonly weekdays?: readonly Weekday[];
  /** In every year: `12-25`, `12-24..01-02`, each with a name if you like. */
  readonly yearly?: readonly string[];
  /** The text of an iCalendar file: events of whole days, once or with `RRULE:FREQ=YEARLY`. Anything else in it is refused. */
  readonly ics?: string;
}

/** A set of local dates, as `defineCalendar` made it. */
export interface CalendarDefinition {
  readonly is: "calendar";
  /** @internal */
  readonly days: CalendarDays;
  /** @internal */
  readonly problems: readonly Problem[];
}

/**
 * Defines a set of days for the `except` and `only` of schedules. Pure data without a zone: a schedule asks it with the date of its
 * own clock. Its content is part of each schedule that names it, so a change of it is a new version of those.
 * Never throws: problems are collected, and `check` shows them with those of the schedule.
 */
export function defineCalendar(options: CalendarOptions): CalendarDefinition {
  const { id = "calendar" } = options;
  const problems = new ProblemList(`calendar "${id}"`);
  checkId(problems, "id", id);
  const ics = icsOf(options.ics, problems);
  const dates = listOf("dates", options.dates, problems).flatMap((each) => dateText(each, problems));
  const yearly = listOf("yearly", options.yearly, problems).flatMap((each) => yearlyText(each, problems));
  const weekdays = listOf("weekdays", options.weekdays, problems).flatMap((each) => weekdayOf(each, problems));
  const days: CalendarDays = {
    id,
    dates: [...new Set([...dates, ...ics.dates])].toSorted(),
    weekdays: weekdayNames.filter((name) => weekdays.includes(name)),
    yearly: [...new Set([...yearly, ...ics.yearly])].toSorted(),
  };
  if (problems.found.length === 0) checkSize(days, problems);
  return { is: "calendar", days, problems: problems.found };
}

function checkSize({ dates, weekdays, yearly }: CalendarDays, problems: ProblemList): void {
  const entries = dates.length + yearly.length;
  const max = contractLimits.calendarEntriesMax;
  if (entries > max)
    problems.add(
      "dates",
      `${entries} entries`,
      `must be at most ${max}`,
      "write stretches as FROM..TO, or leave out years that are past",
    );
  if (entries + weekdays.length > 0) return;
  problems.add("dates, weekdays, yearly, ics", undefined, "one of them must name a day", "add the days");
}

function icsOf(
  text: unknown,
  problems: ProblemList,
): { readonly dates: readonly string[]; readonly yearly: readonly string[] } {
  const none = { dates: [], yearly: [] };
  if (text === undefined) return none;
  if (typeof text !== "string") {
    problems.add(
      "ics",
      text,
      "must be the text of an iCalendar file",
      "keep it in a module of your own, so that it is deployed with your code",
    );
    return none;
  }
  const read = readIcs(text);
  if (read.ok) return read;
  problems.add("ics", text.slice(0, 40), read.problem, "");
  return none;
}

function listOf(field: string, given: unknown, problems: ProblemList): readonly unknown[] {
  if (given === undefined || Array.isArray(given)) return given ?? [];
  problems.add(field, given, "must be a list", "put it in square brackets");
  return [];
}

const isDate = (text: string): boolean => {
  const day = dayOf(text);
  return !Number.isNaN(day) && dateOf(day) === text;
};

function dateText(given: unknown, problems: ProblemList): readonly string[] {
  const text = typeof given === "string" ? given.trim() : holidayText(given);
  const [, from = "", to, name] = /^(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?(?: +(.+))?$/.exec(text ?? "") ?? [];
  if (isDate(from) && (to === undefined || (isDate(to) && to >= from)))
    return [(to === undefined || to === from ? from : `${from}..${to}`) + named("dates", name, problems)];
  problems.add(
    "dates",
    given,
    "is no date",
    "write 2026-12-25 or 2026-12-24..2027-01-01, with a name after a space if you like",
  );
  return [];
}

/** @returns null for what is no holiday of a library. */
function holidayText(given: unknown): string | null {
  const { date, start, end, name } = (typeof given === "object" && given !== null ? given : {}) as Partial<HolidayDate>;
  if (typeof date !== "string") return null;
  const from = date.slice(0, 10);
  if (!isDate(from)) return null;
  const ms = start instanceof Date && end instanceof Date ? end.getTime() - start.getTime() : dayMs;
  const [, hour = 0, minute = 0] = /^[ T](\d\d):(\d\d)/.exec(date.slice(10))?.map(Number) ?? [];
  // A day on which the clock changes has 23 or 25 hours.
  const days = Math.max(1, Math.ceil((hour * hourMs + minute * minuteMs + ms - 2 * hourMs) / dayMs));
  const range = days === 1 ? from : `${from}..${dateOf(dayOf(from) + days - 1)}`;
  // A library's name is not the user's to shorten.
  const text = typeof name === "string" ? name.replace(/\s+/g, " ").trim() : "";
  return `${range} ${text.slice(0, contractLimits.calendarNameCharactersMax)}`.trim();
}

function yearlyText(given: unknown, problems: ProblemList): readonly string[] {
  const [, from = "", to, name] =
    /^(\d\d-\d\d)(?:\.\.(\d\d-\d\d))?(?: +(.+))?$/.exec(typeof given === "string" ? given.trim() : "") ?? [];
  // The year 2000 has a 29th of February.
  if (isDate(`2000-${from}`) && (to === undefined || isDate(`2000-${to}`)))
    return [(to === undefined || to === from ? from : `${from}..${to}`) + named("yearly", name, problems)];
  problems.add(
    "yearly",
    given,
    "is no day of a year",
    "write 12-25 or 12-24..01-02, with a name after a space if you like",
  );
  return [];
}

function named(field: string, name: string | undefined, problems: ProblemList): string {
  if (name === undefined) return "";
  const max = contractLimits.calendarNameCharactersMax;
  if (name.length > max) problems.add(field, name, `the name must be at most ${max} characters`, "shorten it");
  return ` ${name}`;
}

function weekdayOf(given: unknown, problems: ProblemList): readonly Weekday[] {
  const name = weekdayNames.find((each) => each === given);
  if (name === undefined) problems.add("weekdays", given, "is no weekday", `use ${weekdayNames.join(", ")}`);
  return name === undefined ? [] : [name];
}
