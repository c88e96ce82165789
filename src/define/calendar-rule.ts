/** The calendars of a schedule, from the options that code or a person gives. */
import { contractLimits } from "../machine/contract-limits.ts";
import { type CalendarDays, type CalendarRule, type OnExcluded } from "../machine/schedule.ts";
import { type CalendarDefinition, type CalendarOptions, defineCalendar } from "./define-calendar.ts";
import type { ProblemList } from "./problem.ts";
import type { SchedulePolicies } from "./schedule-policy.ts";
import { readChoice } from "./setting.ts";

const choices: readonly OnExcluded[] = ["skip", "next", "previous", "next-business-day", "previous-business-day"];

interface Given extends Pick<SchedulePolicies, "except" | "only" | "onExcluded"> {
  readonly cron?: string | undefined;
  readonly after?: object | undefined;
}

/** Left out of the stored form when there is none. */
export function readCalendars(given: Given, problems: ProblemList): { readonly calendars?: CalendarRule } {
  const except =
    given.except === undefined ? [] : [given.except].flat().map((each) => daysOf("except", each, problems));
  const only = given.only === undefined ? null : daysOf("only", given.only, problems);
  const onExcluded = readChoice(problems, "onExcluded", given.onExcluded, { choices, fallback: "skip" });
  const all = [...except, ...(only === null ? [] : [only])];
  if (all.length === 0) {
    if (given.onExcluded !== undefined)
      problems.add("onExcluded", given.onExcluded, "needs a calendar", "add except or only, or leave it out");
    return {};
  }
  if (given.after !== undefined && onExcluded !== "skip")
    problems.add("onExcluded", onExcluded, "moves a time, and those of a chain are another schedule's", "leave it out");
  if (given.cron === undefined && given.after === undefined)
    problems.add(
      "except, only",
      all.map(({ id }) => id),
      "go with cron: `every` and `at` have no zone in which a day begins",
      "write the times as cron, like */5 * * * *",
    );
  const entries = all.reduce((sum, { dates, yearly }) => sum + dates.length + yearly.length, 0);
  const max = contractLimits.calendarEntriesMax;
  if (entries > max)
    problems.add(
      "except, only",
      `${entries} entries`,
      `must be at most ${max} together`,
      "leave out years that are past",
    );
  return { calendars: { except, only, onExcluded } };
}

/** A person gives a calendar through the API as its options. */
function daysOf(field: string, given: CalendarDefinition | CalendarOptions, problems: ProblemList): CalendarDays {
  const calendar = "is" in given ? given : defineCalendar(given);
  const within = `${field}: calendar "${calendar.days.id}"`;
  for (const each of calendar.problems)
    problems.found.push({ ...each, thing: problems.thing, field: `${within} ${each.field}` });
  return calendar.days;
}
