import { expect, test } from "vitest";
import { readAskedTime } from "../../src/core/calendar/asked-time.ts";
import { openZone } from "../../src/core/calendar/zone.ts";

const now = Date.parse("2026-11-21T08:00:00Z");
const asked = (text: string, zone: string) => {
  const found = readAskedTime(text, openZone(zone), now);
  if (found === null) return null;
  const { localTime, isInstant, instants, near } = found;
  return [localTime, isInstant, instants.map((each) => new Date(each).toISOString()), new Date(near).toISOString()];
};

/** A reading, its zone, the text given back, and the UTC times that show it; the last column is where it lies. */
test.each<[string, string, string, string[], string]>([
  ["2026-11-21T09:00", "UTC", "2026-11-21T09:00", ["2026-11-21T09:00:00.000Z"], "2026-11-21T09:00:00.000Z"],
  ["2026-11-21T09:00:30", "UTC", "2026-11-21T09:00:30", ["2026-11-21T09:00:30.000Z"], "2026-11-21T09:00:30.000Z"],
  ["2026-11-21T09:00", "Asia/Seoul", "2026-11-21T09:00", ["2026-11-21T00:00:00.000Z"], "2026-11-21T00:00:00.000Z"],
  // New York jumps from 02:00 to 03:00 at 07:00Z.
  [
    "2026-03-08T01:59",
    "America/New_York",
    "2026-03-08T01:59",
    ["2026-03-08T06:59:00.000Z"],
    "2026-03-08T06:59:00.000Z",
  ],
  ["2026-03-08T02:00", "America/New_York", "2026-03-08T02:00", [], "2026-03-08T07:00:00.000Z"],
  ["2026-03-08T02:59", "America/New_York", "2026-03-08T02:59", [], "2026-03-08T07:00:00.000Z"],
  [
    "2026-03-08T03:00",
    "America/New_York",
    "2026-03-08T03:00",
    ["2026-03-08T07:00:00.000Z"],
    "2026-03-08T07:00:00.000Z",
  ],
  // It shows 01:00 to 01:59 twice until 06:00Z, and after it.
  [
    "2026-11-01T00:59",
    "America/New_York",
    "2026-11-01T00:59",
    ["2026-11-01T04:59:00.000Z"],
    "2026-11-01T04:59:00.000Z",
  ],
  [
    "2026-11-01T01:00",
    "America/New_York",
    "2026-11-01T01:00",
    ["2026-11-01T05:00:00.000Z", "2026-11-01T06:00:00.000Z"],
    "2026-11-01T05:00:00.000Z",
  ],
  [
    "2026-11-01T02:00",
    "America/New_York",
    "2026-11-01T02:00",
    ["2026-11-01T07:00:00.000Z"],
    "2026-11-01T07:00:00.000Z",
  ],
  // Samoa had no December 30, 2011: the clock jumped from midnight to midnight at 10:00Z.
  ["2011-12-30T00:00", "Pacific/Apia", "2011-12-30T00:00", [], "2011-12-30T10:00:00.000Z"],
  ["2011-12-30T23:59", "Pacific/Apia", "2011-12-30T23:59", [], "2011-12-30T10:00:00.000Z"],
  ["2011-12-31T00:00", "Pacific/Apia", "2011-12-31T00:00", ["2011-12-30T10:00:00.000Z"], "2011-12-30T10:00:00.000Z"],
  ["2011-12-29T23:59", "Pacific/Apia", "2011-12-29T23:59", ["2011-12-30T09:59:00.000Z"], "2011-12-30T09:59:00.000Z"],
])("%s in %s", (text, zone, localTime, instants, near) => {
  expect(asked(text, zone)).toEqual([localTime, false, instants, near]);
});

test("an instant is shown on the clock of the zone, behind UTC and ahead of it", () => {
  const at = "2026-11-21T09:00:00.000Z";
  expect(asked("2026-11-21T09:00Z", "Asia/Seoul")).toEqual(["2026-11-21T18:00", true, [at], at]);
  expect(asked("2026-11-21T09:00Z", "America/New_York")).toEqual(["2026-11-21T04:00", true, [at], at]);
  expect(asked("2026-11-21T11:00+02:00", "America/New_York")).toEqual(["2026-11-21T04:00", true, [at], at]);
});
