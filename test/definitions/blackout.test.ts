import { expect, test } from "vitest";
import { type Blackout, blackoutsOf, checkBlackouts } from "../../src/define/blackout.ts";
import { defineApp } from "../../src/define/define-app.ts";
import { defineCalendar } from "../../src/define/define-calendar.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { ProblemList } from "../../src/define/problem.ts";
import { dayMs, minuteMs } from "../../src/machine/units.ts";

const mail = defineJob({ id: "mail", lane: "mail", run: () => {} });
const windowsOf = (blackouts: readonly Blackout[], now: number) =>
  blackoutsOf([defineApp({ name: "shop", jobs: [mail], lanes: { mail: { blackouts } } })], now)[1]?.windows ?? [];

const closing = defineCalendar({ id: "closing", dates: ["2026-10-25", "2027-03-28"], weekdays: ["fri"] });
const isClosing = (date: string): boolean =>
  ["2026-10-25", "2027-03-28"].includes(date) || new Date(`${date}T00:00Z`).getUTCDay() === 5;

/** What a clock of that zone shows, by Intl alone. */
function clockOf(timezone: string) {
  const format = new Intl.DateTimeFormat("sv", { timeZone: timezone, dateStyle: "short", timeStyle: "short" });
  return (instant: number) => format.format(instant);
}

test.each([
  ["a part of the day", { from: "09:15", to: "17:00" }],
  ["over midnight", { from: "22:00", to: "06:30" }],
  ["over a change of the clock", { from: "01:30", to: "03:30" }],
  ["whole days of a calendar", { on: closing }],
  ["from the days of a calendar on", { from: "20:00", to: "04:00", on: closing }],
] as const)("%s is closed by the clock of its zone", (_name, given) => {
  for (const timezone of ["Europe/Berlin", "America/New_York", "Asia/Seoul", "Pacific/Apia"])
    for (const start of ["2026-10-22T05:07Z", "2027-03-24T12:00Z", "2026-10-30T00:00Z"]) {
      const now = Date.parse(start);
      const show = clockOf(timezone);
      const windows = windowsOf([{ timezone, ...given }], now);
      const { from, to } = { from: "00:00", to: "24:00", ...given };
      const begins = (date: string): boolean => !("on" in given) || isClosing(date);
      const instants = Array.from({ length: 7 * 24 * 6 }, (_, n) => now + n * 10 * minuteMs);
      const wrong = instants.filter((at) => {
        const reading = show(at);
        // Shown twice: it is closed from the first time on, up to the second.
        if ([-60, 60].some((minutes) => show(at + minutes * minuteMs) === reading)) return false;
        const [date = "", time = ""] = reading.split(" ");
        const before = new Date(Date.parse(`${date}T00:00Z`) - dayMs).toISOString().slice(0, 10);
        const isClosed =
          from < to
            ? begins(date) && from <= time && time < to
            : (begins(date) && time >= from) || (begins(before) && time < to);
        return isClosed !== windows.some((window) => window.from <= at && at < window.until);
      });
      expect(wrong.map(show)).toEqual([]);
    }
});

test("a closing that is longer than what is written ahead is written to its end", () => {
  const on = defineCalendar({ id: "shut", dates: ["2027-01-01..2027-01-20", "2027-02-01"] });
  const windows = windowsOf([{ timezone: "UTC", on }], Date.parse("2027-01-01T08:00Z"));
  expect(windows.at(-1)?.until).toBe(Date.parse("2027-01-21T00:00Z"));
});

test("a lane without a job keeps its blackouts, so that it may empty itself by them, and a kind has its own", () => {
  const blackouts = [{ from: "22:00", to: "06:00", timezone: "UTC" }];
  const nightly = defineJob({ id: "nightly", lane: "mail", blackouts, run: () => {} });
  const app = defineApp({ name: "shop", jobs: [mail, nightly], lanes: { old: { blackouts } } });
  expect(blackoutsOf([app], 0).map(({ lane, windows }) => [lane, windows.length > 0])).toEqual([
    ["kind:mail", false],
    ["kind:nightly", true],
    ["mail", false],
    ["old", true],
  ]);
});

test.each([
  [{ timezone: "Seoul" }, "blackouts[0].timezone"],
  [{ timezone: "UTC", from: "9:00" }, "blackouts[0].from"],
  [{ timezone: "UTC", to: "24:30" }, "blackouts[0].to"],
  [{ timezone: "UTC", from: "24:00" }, "blackouts[0].from"],
  [{ timezone: "UTC", on: "sundays" }, "blackouts[0].on"],
  [{ timezone: "UTC", on: { is: "calendar" } }, "blackouts[0].on"],
  [{ timezone: "UTC", till: "10:00", from: "09:00" }, "blackouts[0].till"],
  [{ timezone: "UTC", on: defineCalendar({ id: "bad", dates: ["2026-13-01"] }) }, "dates"],
])("%o is refused at its field", (given, field) => {
  const problems = new ProblemList("lane");
  checkBlackouts({ blackouts: [given as Blackout] }, problems);
  expect(problems.found.map((problem) => problem.field)).toContain(field);
});

const each = defineCalendar({ weekdays: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] });
const night = { timezone: "Asia/Seoul", from: "21:00", to: "09:00" };

test.each<[string, readonly Blackout[]]>([
  ["00:00 to 24:00", [{ timezone: "UTC" }]],
  ["10:00 to 10:00", [{ timezone: "UTC", from: "10:00", to: "10:00" }]],
  ["00:00 to 24:00", [{ timezone: "UTC", on: each }]],
  ["21:00 to 09:00, 00:00 to 12:00", [night, { timezone: "UTC", to: "12:00" }]],
])("%s would close it for good", (value, blackouts) => {
  const problems = new ProblemList("lane");
  checkBlackouts({ blackouts }, problems);
  expect(problems.found).toMatchObject([{ field: "blackouts", rule: "would close it for good", value: `"${value}"` }]);
});

test("a minute that stays open is enough", () => {
  const problems = new ProblemList("lane");
  checkBlackouts({ blackouts: [night, { timezone: "UTC", from: "00:01", to: "12:00" }] }, problems);
  expect(problems.found).toEqual([]);
});

test("more blackouts than a lane may have are refused", () => {
  const problems = new ProblemList("lane");
  checkBlackouts(
    { blackouts: Array.from({ length: 21 }, () => ({ timezone: "UTC", from: "09:00", to: "10:00" })) },
    problems,
  );
  expect(problems.found.map(({ rule }) => rule)).toEqual(["must be a list of at most 20"]);
});
