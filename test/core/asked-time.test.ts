import { expect, test } from "vitest";
import { readTimeQuery } from "../../src/calendar/asked-time.ts";
import { openZone } from "../../src/calendar/zone.ts";
import { intlOffset } from "../schedules/clock.ts";

const now = Date.parse("2026-11-21T08:00:00Z");
const asked = (text: string, zone: string) => {
  const found = readTimeQuery(text, openZone(zone), now);
  if (found === null) return null;
  const { localTime, isInstant, instants, near } = found;
  return [localTime, isInstant, instants.map((each) => new Date(each).toISOString()), new Date(near).toISOString()];
};

test("an instant is shown on the clock of the zone, behind UTC and ahead of it", () => {
  const at = "2026-11-21T09:00:00.000Z";
  expect(asked("2026-11-21T09:00Z", "Asia/Seoul")).toEqual(["2026-11-21T18:00", true, [at], at]);
  expect(asked("2026-11-21T09:00Z", "America/New_York")).toEqual(["2026-11-21T04:00", true, [at], at]);
  expect(asked("2026-11-21T11:00+02:00", "America/New_York")).toEqual(["2026-11-21T04:00", true, [at], at]);
});

/** Every quarter of an hour by the clock, with the instants that show it as the platform says. */
test.each([
  ["America/New_York", "2026-03-08T07:00Z"],
  ["America/New_York", "2026-11-01T06:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
  ["Pacific/Apia", "2011-12-30T10:00Z"],
  ["Pacific/Kwajalein", "1993-08-21T12:00Z"],
  ["Pacific/Kiritimati", "1995-01-01T10:00Z"],
  ["Asia/Kathmandu", "2026-01-01T00:00Z"],
])("each reading in %s around %s has the instants at which the clock shows it", (zone, utc) => {
  const [quarter, day] = [900_000, 86_400_000];
  const around = Date.parse(utc);
  const shown = new Map<number, number[]>();
  for (let instant = around - 5 * day; instant <= around + 5 * day; instant += quarter) {
    const reading = instant + intlOffset(zone, instant);
    shown.set(reading, [...(shown.get(reading) ?? []), instant]);
  }
  const changes = [...shown.values()].flat().toSorted((a, b) => a - b);
  const jump = changes.find((at) => intlOffset(zone, at) > intlOffset(zone, at - 1));
  const start = around + intlOffset(zone, around) - 3 * day;
  for (let reading = start; reading <= start + 6 * day; reading += quarter) {
    const text = new Date(reading).toISOString().slice(0, 16);
    const found = readTimeQuery(text, openZone(zone), now);
    const instants = shown.get(reading) ?? [];
    expect(found).toEqual({ localTime: text, isInstant: false, instants, near: instants[0] ?? jump });
  }
});

test("what is no date or time, or not written as one, is none", () => {
  for (const text of ["2026-02-29T09:00", "2026-13-01T09:00", "2026-11-21T24:00", "09:60", "9", "", "09:00+9", "x"])
    expect([text, asked(text, "UTC")]).toEqual([text, null]);
  expect(asked(" 9:05 ", "Asia/Seoul")).toEqual([
    "2026-11-21T09:05",
    false,
    ["2026-11-21T00:05:00.000Z"],
    "2026-11-21T00:05:00.000Z",
  ]);
  expect(readTimeQuery("08:00:00.5", openZone("UTC"), now)).toMatchObject({
    localTime: "2026-11-21T08:00:00.500",
    near: now + 500,
  });
});
