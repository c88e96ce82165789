import { expect, test } from "vitest";
import { type CalendarOptions, defineCalendar, defineJob, defineSchedule } from "../../src/compose/index.ts";

const daysOf = (options: CalendarOptions) => defineCalendar(options).days;
const problemsOf = (options: object): readonly string[] =>
  defineCalendar(options).problems.map(({ field, value, rule }) => `${field} ${value} ${rule}`);

test("days are kept sorted and once, however they are written", () => {
  expect(
    daysOf({
      id: "kr",
      dates: ["2026-12-25 Christmas", "2026-01-01..2026-01-01", "2026-12-25 Christmas"],
      weekdays: ["sun", "sat", "sun"],
      yearly: ["12-31..01-02 Turn", "05-01"],
    }),
  ).toEqual({
    id: "kr",
    dates: ["2026-01-01", "2026-12-25 Christmas"],
    weekdays: ["sun", "sat"],
    yearly: ["05-01", "12-31..01-02 Turn"],
  });
});

test("holidays of a library: as many days as they touch, by their own clock", () => {
  const holiday = (date: string, hours: number) => ({
    date,
    start: new Date(0),
    end: new Date(hours * 3_600_000),
    name: "설날",
  });
  const dates = [
    holiday("2027-02-07 00:00:00", 72),
    holiday("2024-03-08 12:00:00", 12),
    holiday("2024-04-10 00:00:00 -0600", 90),
    holiday("2024-03-31 00:00:00", 23),
    holiday("2024-10-27 00:00:00", 25),
    { date: "2024-05-05" },
    { date: "2024-05-06", name: "Alternative ".repeat(8) },
  ];
  expect(daysOf({ dates }).dates).toEqual([
    "2024-03-08 설날",
    "2024-03-31 설날",
    "2024-04-10..2024-04-13 설날",
    "2024-05-05",
    `2024-05-06 ${"Alternative ".repeat(8).slice(0, 80)}`,
    "2024-10-27 설날",
    "2027-02-07..2027-02-09 설날",
  ]);
});

test.each<[object, string]>([
  [{ dates: ["2026-02-29"] }, 'dates "2026-02-29" is no date'],
  [{ dates: ["2026-12-25..2026-12-24"] }, 'dates "2026-12-25..2026-12-24" is no date'],
  [{ dates: [{ day: 1 }] }, 'dates {"day":1} is no date'],
  [{ dates: "2026-12-25" }, 'dates "2026-12-25" must be a list'],
  [{ dates: [`2026-12-25 ${"x".repeat(81)}`] }, `dates "${"x".repeat(81)}" the name must be at most 80 characters`],
  [{ yearly: ["02-30"] }, 'yearly "02-30" is no day of a year'],
  [{ weekdays: ["saturday"] }, 'weekdays "saturday" is no weekday'],
  [{ id: "My days", weekdays: ["sat"] }, "id"],
  [{}, "dates, weekdays, yearly, ics (missing) one of them must name a day"],
  [{ ics: 5 }, "ics 5 must be the text of an iCalendar file"],
  [
    { dates: Array.from({ length: 2_001 }, (_, n) => new Date(n * 86_400_000).toISOString().slice(0, 10)) },
    'dates "2001 entries" must be at most 2000',
  ],
])("%j is refused: %s", (options, problem) => {
  const found = problemsOf(options);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(problem);
});

test("a schedule refuses calendars without a zone, an onExcluded without calendars, and shows the calendar's problems", () => {
  const run = defineJob({ id: "work", run: () => {} });
  const weekend = defineCalendar({ weekdays: ["sat"] });
  const problems = (options: object): readonly string[] =>
    (defineSchedule({ id: "s", run, ...options } as never).problems ?? []).map(
      ({ field, rule }) => `${field}: ${rule}`,
    );
  expect(problems({ every: "5m", except: weekend })).toEqual([
    "except, only: go with cron: `every` and `at` have no zone in which a day begins",
  ]);
  const nine = { cron: "0 9 * * *", timezone: "UTC" };
  expect(problems({ ...nine, onExcluded: "next" })).toEqual(["onExcluded: needs a calendar"]);
  expect(problems({ ...nine, only: weekend, onExcluded: "later" })).toEqual(["onExcluded: is not one of the choices"]);
  expect(problems({ ...nine, except: [defineCalendar({ id: "bad", dates: ["soon"] })] })).toEqual([
    'except: calendar "bad" dates: is no date',
  ]);
});

const ics = (...lines: readonly string[]): string =>
  ["BEGIN:VCALENDAR", "BEGIN:VEVENT", ...lines, "END:VEVENT", "END:VCALENDAR", ""].join("\r\n");

test.each<[string, readonly string[], object]>([
  [
    "one day",
    ["DTSTART;VALUE=DATE:20261225", "SUMMARY:Christmas\\, all", "  day"],
    { dates: ["2026-12-25 Christmas, all day"] },
  ],
  [
    "DTEND is the day after",
    ["DTSTART;VALUE=DATE:20261224", "DTEND;VALUE=DATE:20261227"],
    { dates: ["2026-12-24..2026-12-26"] },
  ],
  ["a duration", ["DTSTART;VALUE=DATE:20261224", "DURATION:P1W"], { dates: ["2026-12-24..2026-12-30"] }],
  ["each year", ["DTSTART;VALUE=DATE:20201225", "RRULE:FREQ=YEARLY"], { yearly: ["12-25"] }],
  [
    "over the year's end",
    ["DTSTART;VALUE=DATE:20201231", "DTEND;VALUE=DATE:20210103", "RRULE:FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=31"],
    { yearly: ["12-31..01-02"] },
  ],
  [
    "so many times",
    ["DTSTART;VALUE=DATE:20240229", "RRULE:FREQ=YEARLY;COUNT=3"],
    { dates: ["2024-02-29", "2028-02-29", "2032-02-29"] },
  ],
  [
    "until a day",
    ["DTSTART;VALUE=DATE:20240501", "RRULE:FREQ=YEARLY;INTERVAL=2;UNTIL=20280501"],
    { dates: ["2024-05-01", "2026-05-01", "2028-05-01"] },
  ],
])("iCalendar: %s", (_, lines, days) => {
  expect(daysOf({ ics: ics(...lines) })).toMatchObject(days);
});

test("iCalendar: what is canceled counts as nothing, parts within an event are its own", () => {
  const alarm = ["BEGIN:VALARM", "TRIGGER:-PT15M", "DTSTART:20260101T000000", "END:VALARM"];
  const text = ics(
    "DTSTART;VALUE=DATE:20261225",
    ...alarm,
    "END:VEVENT",
    "BEGIN:VEVENT",
    "DTSTART;VALUE=DATE:20261226",
    "STATUS:CANCELLED",
  );
  expect(daysOf({ ics: text }).dates).toEqual(["2026-12-25"]);
});

test.each<[string, readonly string[]]>([
  ["DTSTART:20261225T090000Z: only whole days", ["DTSTART:20261225T090000Z"]],
  ["RDATE, which is not read", ["DTSTART;VALUE=DATE:20261225", "RDATE;VALUE=DATE:20261226"]],
  ["EXDATE, which is not read", ["DTSTART;VALUE=DATE:20261225", "RRULE:FREQ=YEARLY", "EXDATE;VALUE=DATE:20271225"]],
  ["BYDAY=-1MO is not read", ["DTSTART;VALUE=DATE:20260525", "RRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO"]],
  ["FREQ=MONTHLY is not read", ["DTSTART;VALUE=DATE:20260525", "RRULE:FREQ=MONTHLY"]],
  ["INTERVAL needs COUNT or UNTIL", ["DTSTART;VALUE=DATE:20260525", "RRULE:FREQ=YEARLY;INTERVAL=2"]],
  ["without DTSTART", ["SUMMARY:x"]],
  ["DTEND is before its DTSTART", ["DTSTART;VALUE=DATE:20261225", "DTEND;VALUE=DATE:20261224"]],
  ["a line that is no property", ["DTSTART;VALUE=DATE:20261225", "nonsense"]],
])("iCalendar is refused by name: %s", (problem, lines) => {
  expect(problemsOf({ ics: ics(...lines) })[0]).toContain(problem);
});
