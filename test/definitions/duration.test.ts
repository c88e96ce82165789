import * as fc from "fast-check";
import { expect, test } from "vitest";
import { durationMs, formatDuration, parseDuration } from "../../src/calendar/duration.ts";

test.each([
  ["250ms", 250],
  ["20s", 20_000],
  ["1.5m", 90_000],
  ["14m", 840_000],
  ["2h", 7_200_000],
  ["30d", 2_592_000_000],
  ["0s", 0],
])("%s is %d milliseconds", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  "10 minutes",
  "10",
  "m",
  "-5s",
  "1e3s",
  " 5s",
  "5S",
  "1h30m",
  "",
  "9999999999999d",
  "999999999999d",
  ["5s"],
  5,
  null,
  undefined,
])("%j is not a duration", (text) => {
  expect(parseDuration(text)).toBeNull();
});

test("a wrong duration is refused with the setting, the value and the form to write", () => {
  expect(() => durationMs('delay of "hello"', "10x" as "10s")).toThrow(
    'delay of "hello" is "10x"; write a number and a unit, like "500ms"',
  );
});

test("a duration is shown as a person would write it", () => {
  expect([870_000, 0, 90_061_001].map(formatDuration)).toEqual(["14m30s", "0s", "1d1h1m1s1ms"]);
});

test("the parts of a shown duration add up to what was shown", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (ms) => {
      const parts = formatDuration(ms).match(/\d+(ms|s|m|h|d)/g) ?? [];
      expect(parts.reduce((sum, part) => sum + (parseDuration(part) ?? Number.NaN), 0)).toBe(ms);
    }),
  );
});
