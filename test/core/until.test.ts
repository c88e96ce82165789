import { expect, test } from "vitest";
import { readUntil } from "../../src/calendar/asked-time.ts";
import { openZone } from "../../src/calendar/zone.ts";

const now = Date.parse("2026-11-21T08:00:00Z");

test.each([
  ["a duration", "2h", "UTC", "2026-11-21T10:00:00Z"],
  ["a reading of today", "9:30", "UTC", "2026-11-21T09:30:00Z"],
  ["a reading that has passed is tomorrow's", "6:00", "UTC", "2026-11-22T06:00:00Z"],
  ["the clock is the zone's: it is 17:00 in Seoul", "18:00", "Asia/Seoul", "2026-11-21T09:00:00Z"],
  ["and 6:00 there is still before midnight in UTC", "06:00", "Asia/Seoul", "2026-11-21T21:00:00Z"],
  ["a date by the zone's clock", "2026-11-23T06:00", "Europe/Berlin", "2026-11-23T05:00:00Z"],
  ["an instant, whatever the zone", "2026-11-23T06:00:00+02:00", "Asia/Seoul", "2026-11-23T04:00:00Z"],
  ["a date that has passed is given back as it is", "2026-11-20T06:00", "UTC", "2026-11-20T06:00:00Z"],
])("%s", (_, text, zone, expected) => {
  expect(new Date(readUntil(text, openZone(zone), now) ?? 0).toISOString()).toBe(new Date(expected).toISOString());
});

test("a reading that the clock skips is the jump; one that it shows twice is the pass that comes next", () => {
  const spring = Date.parse("2027-03-13T12:00:00Z");
  expect(readUntil("2:30", openZone("America/New_York"), spring)).toBe(Date.parse("2027-03-14T07:00:00Z"));
  const between = Date.parse("2027-11-07T05:45:00Z");
  expect(readUntil("1:30", openZone("America/New_York"), between)).toBe(Date.parse("2027-11-07T06:30:00Z"));
});

test("a reading that has passed is the next day's, also around a day of 23 or 25 hours", () => {
  const zone = openZone("America/New_York");
  const beforeSpring = Date.parse("2027-03-14T04:30:00Z");
  expect(readUntil("6:00", zone, beforeSpring)).toBe(Date.parse("2027-03-14T10:00:00Z"));
  const inAutumn = Date.parse("2027-11-07T04:10:00Z");
  expect(readUntil("0:05", zone, inAutumn)).toBe(Date.parse("2027-11-08T05:05:00Z"));
});

test.each(["soon", "25:00", "6", "2026-13-01T06:00", ""])("%j is no end", (text) => {
  expect(readUntil(text, openZone("UTC"), now)).toBeNull();
});

test("what the clock shows at this very moment is tomorrow's, or the second pass of it", () => {
  expect(readUntil("8:00", openZone("UTC"), now)).toBe(now + 86_400_000);
  expect(readUntil("8:00:01", openZone("UTC"), now)).toBe(now + 1_000);
  const first = Date.parse("2027-11-07T05:30:00Z");
  expect(readUntil("1:30", openZone("America/New_York"), first - 1)).toBe(first);
  expect(readUntil("1:30", openZone("America/New_York"), first)).toBe(first + 3_600_000);
  expect(readUntil("2026-11-21T08:00", openZone("UTC"), now)).toBe(now);
});
