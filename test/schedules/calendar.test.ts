import { expect, test } from "vitest";
import { defineCalendar, defineJob, defineSchedule } from "../../src/compose/index.ts";
import { timesOf } from "../../src/testing/times-of.ts";

const job = defineJob({ id: "close-day", run: () => {} });
const holidays = defineCalendar({
  id: "holidays",
  dates: ["2026-12-24..2027-01-01 Company holidays"],
  yearly: ["05-01 Labour Day"],
});
const weekend = defineCalendar({ id: "weekend", weekdays: ["sat", "sun"] });

const timesBetween = (after: string, until: string, options: object): string[] =>
  timesOf(defineSchedule({ id: "close", cron: "0 9 * * *", timezone: "Asia/Seoul", run: job, ...options }), {
    after: `${after}T00:00:00+09:00`,
    until: `${until}T00:00:00+09:00`,
  }).map(({ at, localTime, kind, calendar = "" }) => {
    const local = new Date(Date.parse(at) + 9 * 3_600_000).toISOString().slice(0, 16);
    return `${localTime.slice(5)}${local === localTime ? "" : ` at ${local.slice(5)}`} ${kind} ${calendar}`.trim();
  });

test("a time whose date is in a calendar of `except` is excluded, with the calendar and the entry", () => {
  expect(timesBetween("2026-12-22", "2026-12-26", { except: [weekend, holidays] })).toEqual([
    "12-22T09:00 fires",
    "12-23T09:00 fires",
    "12-24T09:00 excluded holidays: 2026-12-24..2027-01-01 Company holidays",
    "12-25T09:00 excluded holidays: 2026-12-24..2027-01-01 Company holidays",
  ]);
  expect(timesBetween("2026-05-01", "2026-05-03", { except: [weekend, holidays] })).toEqual([
    "05-01T09:00 excluded holidays: 05-01 Labour Day",
    "05-02T09:00 excluded weekend: sat",
  ]);
});

test("the times of an excluded day move to the next day that is not, and merge into what fires there", () => {
  const moved = { cron: "0 9 * * MON", except: holidays };
  expect(timesBetween("2026-12-20", "2027-01-10", { ...moved, onExcluded: "next" })).toEqual([
    "12-21T09:00 fires",
    "12-28T09:00 at 01-02T09:00 fires holidays: 2026-12-24..2027-01-01 Company holidays",
    "01-04T09:00 fires",
  ]);
  expect(timesBetween("2026-12-20", "2027-01-10", { ...moved, onExcluded: "next-business-day" })).toEqual([
    "12-21T09:00 fires",
    "01-04T09:00 fires",
    "12-28T09:00 at 01-04T09:00 merged holidays: 2026-12-24..2027-01-01 Company holidays",
  ]);
  expect(timesBetween("2026-12-20", "2027-01-10", { ...moved, onExcluded: "previous" })).toEqual([
    "12-21T09:00 fires",
    "12-28T09:00 at 12-23T09:00 fires holidays: 2026-12-24..2027-01-01 Company holidays",
    "01-04T09:00 fires",
  ]);
});
