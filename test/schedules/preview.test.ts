import { expect, test } from "vitest";
import { preview } from "../../src/core/calendar/preview.ts";
import type { Dst } from "../../src/core/calendar/fires.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";

const dst: Dst = { gap: "auto", overlap: "auto" };
const shown = (cron: string, after: string, count: number, over: Partial<Dst> = {}) =>
  preview(
    {
      expression: { form: "cron", cron },
      timezone: "America/New_York",
      dst: { ...dst, ...over },
      startAt: null,
      endAt: null,
    },
    Date.parse(after),
    count,
  ).map(({ localTime, fold, fires, note }) => [localTime.slice(5) + (fold === 1 ? "'" : ""), fires, note] as const);

const jump = "the clock jumps from 02:00 to 03:00 before it";
const skips = (clock: string): string => `the clock skips ${clock} (it jumps from 02:00 to 03:00)`;

test.each([
  ["0 3 * * *", "2026-03-07T12:00Z", [true, jump]],
  ["0 12 * * *", "2026-03-07T18:00Z", [true, jump]],
  // A day after the jump it is no news any more; neither is it when the time before came after it.
  ["59 2 9 3 *", "2026-03-01T00:00Z", [true, jump]],
  ["0 3 9 3 *", "2026-03-01T00:00Z", [true, null]],
  ["0 4 * * *", "2026-03-08T07:00Z", [true, null]],
  ["0 4 * * *", "2026-03-08T06:59Z", [true, jump]],
  ["59 1 * * *", "2026-03-08T06:00Z", [true, null]],
  ["0 12 * * *", "2026-10-31T18:00Z", [true, null]],
  ["30 2 * * *", "2026-03-08T06:00Z", [true, `${skips("02:30")}: fires at 03:00`]],
])("%s after %s", (cron, after, expected) => {
  expect(shown(cron, after, 1).map(([, fires, note]) => [fires, note])).toEqual([expected]);
});

test("a jump is news to the first time after it alone", () => {
  expect(shown("0 3-23 * * *", "2026-03-08T05:30Z", 3).map(([time, , note]) => [time.slice(6), note])).toEqual([
    ["03:00", jump],
    ["04:00", null],
    ["05:00", null],
  ]);
});

test("each rule of a gap has its sentence", () => {
  const around = (gap: Dst["gap"]) => shown("0,30 2 * * *", "2026-03-08T05:00Z", 2, { gap });
  expect(around("first-valid")).toEqual([
    ["03-08T02:00", true, `${skips("02:00")}: fires at 03:00`],
    ["03-08T02:30", false, `${skips("02:30")}: COALESCED into 2026-03-08T02:00`],
  ]);
  expect(around("shift")).toEqual([
    ["03-08T02:00", true, `${skips("02:00")}: fires at 03:00`],
    ["03-08T02:30", true, `${skips("02:30")}: fires at 03:30`],
  ]);
  expect(around("skip").map(([, fires, note]) => [fires, note])).toEqual([
    [false, `${skips("02:00")}: SKIPPED dst-gap`],
    [false, `${skips("02:30")}: SKIPPED dst-gap`],
  ]);
});

test("a reading that the clock shows twice says which of the two it is, from the first to the last that comes twice", () => {
  const overlap = shown("0,30,59 0-2 * * *", "2026-11-01T04:00Z", 12, { overlap: "both" });
  expect(overlap.map(([time, , note]) => [time.slice(6), note])).toEqual([
    ["00:30", null],
    ["00:59", null],
    ["01:00", "the clock shows 01:00 twice: first time"],
    ["01:30", "the clock shows 01:30 twice: first time"],
    ["01:59", "the clock shows 01:59 twice: first time"],
    ["01:00'", "the clock shows 01:00 twice: second time"],
    ["01:30'", "the clock shows 01:30 twice: second time"],
    ["01:59'", "the clock shows 01:59 twice: second time"],
    ["02:00", null],
    ["02:30", null],
    ["02:59", null],
    ["00:00", null],
  ]);
});

test("each time is listed once, however close they are", () => {
  const every = { form: "every", everyMs: 1 } as const;
  const times = preview({ expression: every, timezone: "UTC", dst, startAt: null, endAt: null }, 0, 4);
  expect(times.map(({ instant }) => instant)).toEqual([1, 2, 3, 4]);
});

test("as many times as asked for, up to the limit or the end", () => {
  expect([0, 1, 3].map((count) => shown("0 12 * * *", "2026-06-01T00:00Z", count).length)).toEqual([0, 1, 3]);
  const many = contractLimits.previewTimesMax;
  expect([many, many + 1].map((count) => shown("0 12 * * *", "2026-06-01T00:00Z", count).length)).toEqual([many, many]);
  expect(shown("cron(0 12 30-31 12 ? 2026)", "2026-06-01T00:00Z", 9)).toHaveLength(2);
});
