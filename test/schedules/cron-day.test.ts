import { expect, test } from "vitest";
import { matchingDays, parseDayOfMonth, parseDayOfWeek, fields } from "../../src/calendar/cron-field.ts";

/** What a day of a month is, counted from both of its ends. */
interface Day {
  readonly day: number;
  readonly back: number;
  readonly weekday: number;
  readonly length: number;
}

/** The weekday nearest to a day, looked for one step after another in both directions, within the month. */
function nearest(days: readonly Day[], to: number): number | null {
  if (!days.some(({ day }) => day === to)) return null;
  const work = days.filter(({ weekday }) => weekday >= 1 && weekday <= 5);
  for (let away = 0; away < 4; away += 1)
    for (const day of [to - away, to + away]) if (work.some((each) => each.day === day)) return day;
  return null;
}

type ByHand = (day: Day, all: readonly Day[]) => boolean;
const ofMonth: [string, ByHand][] = [
  ["1", ({ day }) => day === 1],
  ["28-31", ({ day }) => day >= 28],
  ["L", ({ back }) => back === 0],
  ["L-0", ({ back }) => back === 0],
  ["l-3", ({ back }) => back === 3],
  ["L-27", ({ back }) => back === 27],
  ["L-28", ({ back }) => back === 28],
  ["L-30", ({ back }) => back === 30],
  ["LW", ({ day, length }, all) => day === nearest(all, length)],
  ["WL", ({ day, length }, all) => day === nearest(all, length)],
  ...Array.from({ length: 31 }, (_, n): [string, ByHand] => [
    `L-${n}W`,
    (d, all) => d.day === nearest(all, d.length - n),
  ]),
  ...Array.from({ length: 31 }, (_, n): [string, ByHand] => [`${n + 1}W`, (d, all) => d.day === nearest(all, n + 1)]),
  ["2,LW", ({ day, length }, all) => day === 2 || day === nearest(all, length)],
];
const ofWeek: [string, ByHand][] = [
  ...Array.from({ length: 7 }, (_, w): [string, ByHand] => [`${w}`, ({ weekday }) => weekday === w]),
  ["7", ({ weekday }) => weekday === 0],
  ["7L", ({ weekday, back }) => weekday === 0 && back < 7],
  ["SUNL", ({ weekday, back }) => weekday === 0 && back < 7],
  ["FRI-MON", ({ weekday }) => weekday >= 5 || weekday <= 1],
  ...Array.from({ length: 7 }, (_, w): [string, ByHand] => [`${w}L`, (d) => d.weekday === w && d.back < 7]),
  ...Array.from({ length: 35 }, (_, k): [string, ByHand] => {
    const [w, n] = [k % 7, Math.floor(k / 7) + 1];
    return [`${w}#${n}`, ({ weekday, day }) => weekday === w && Math.ceil(day / 7) === n];
  }),
];

const months = [28, 29, 30, 31].flatMap((length) =>
  Array.from({ length: 7 }, (_, first) => ({
    first,
    length,
    days: Array.from({ length }, (_day, k): Day => ({
      day: k + 1,
      back: length - k - 1,
      weekday: (first + k) % 7,
      length,
    })),
  })),
);
const anyDay = parseDayOfMonth("*");
const anyWeekday = parseDayOfWeek("?", fields.dayOfWeek);

test.each(ofMonth)("day of month %s in every kind of month", (text, byHand) => {
  const rule = parseDayOfMonth(text);
  for (const { first, length, days } of months) {
    const expected = days.filter((day) => byHand(day, days)).map(({ day }) => day);
    expect([first, length, ...matchingDays(rule, anyWeekday, first, length)]).toEqual([first, length, ...expected]);
  }
});

test.each(ofWeek)("day of week %s in every kind of month", (text, byHand) => {
  const rule = parseDayOfWeek(text, fields.dayOfWeek);
  for (const { first, length, days } of months) {
    const expected = days.filter((day) => byHand(day, days)).map(({ day }) => day);
    expect([first, length, ...matchingDays(anyDay, rule, first, length)]).toEqual([first, length, ...expected]);
    const both = days.filter((day) => day.day === 10 || byHand(day, days)).map(({ day }) => day);
    expect(matchingDays(parseDayOfMonth("10"), rule, first, length)).toEqual(both);
  }
});

test("two fields that restrict nothing are every day", () => {
  for (const { first, length, days } of months)
    expect(matchingDays(anyDay, anyWeekday, first, length)).toEqual(days.map(({ day }) => day));
});

test.each(["L-31", "L-", "L--1", "L-x", "L-1e1", "L-1.5", "L-031", "L- 3", "L-31W", "L-W", "0W", "32W", "W", "xW"])(
  "day of month %s is refused",
  (text) => {
    expect(() => parseDayOfMonth(text)).toThrow(`day of month "${text}": `);
  },
);

test.each(["5#0", "5#6", "5#", "#2", "8#1", "5#2#3", "5#02", "8L", "L"])("day of week %s is refused", (text) => {
  expect(() => parseDayOfWeek(text, fields.dayOfWeek)).toThrow(`day of week "${text}": `);
});
