import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseCron } from "../../src/calendar/cron.ts";
import type { Dst } from "../../src/calendar/fires.ts";
import { nextFire, nextFiring } from "../../src/calendar/timetable.ts";
import { openZone } from "../../src/calendar/zone.ts";
import { nominalTimes } from "../support/nominal-times.ts";
import { firesByHand, watch } from "./clock.ts";

const hour = 3_600_000;
const auto: Dst = { gap: "auto", overlap: "auto" };

test("an expression that names its years is searched to the last of them, however far, and not beyond", () => {
  const expression = { form: "cron", cron: "cron(30 6 31 12 ? 2199)" } as const;
  const when = { expression, timezone: "Pacific/Kiritimati", dst: auto, startAt: null, endAt: null };
  const last = Date.UTC(2199, 11, 30, 16, 30);
  expect(nextFire(when, Date.UTC(2026, 0, 1))?.instant).toBe(last);
  expect(nextFire(when, last - 1)?.instant).toBe(last);
  expect(nextFire(when, last)).toBe(null);
});

test("the next time that fires lies behind every reading that a gap swallows", () => {
  const when = {
    timezone: "America/New_York",
    dst: { gap: "skip", overlap: "auto" },
    startAt: null,
    endAt: null,
  } as const;
  const next = (cron: string) =>
    nextFiring({ ...when, expression: { form: "cron", cron } }, Date.parse("2026-03-08T06:59Z"));
  expect(next("*/10 2 * * *")).toBe(Date.parse("2026-03-09T06:00Z"));
  expect(next("* 2 * * *")).toBe(Date.parse("2026-03-09T06:00Z"));
  expect(next("30 2 8 3 *")).toBe(Date.parse("2027-03-08T07:30Z"));
  expect(next("30 2 8 3 8")).toBeNull();
});

/** Zones with every kind of change: an hour, half an hour, a day, double summer time, offsets with odd minutes. */
const changes = [
  ["America/New_York", "2026-03-08T07:00Z"],
  ["America/New_York", "2026-11-01T06:00Z"],
  ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
  ["Asia/Seoul", "1988-05-07T17:00Z"],
  ["Asia/Seoul", "1988-10-08T17:00Z"],
  ["Pacific/Apia", "2011-12-30T10:00Z"],
  ["Antarctica/Troll", "2026-03-29T01:00Z"],
  ["Asia/Pyongyang", "2018-05-04T15:00Z"],
  ["America/Caracas", "2007-12-09T07:00Z"],
  ["Pacific/Kwajalein", "1993-08-21T12:00Z"],
  ["Africa/Casablanca", "2026-02-15T02:00Z"],
] as const;

test("fires are those of a wall clock watched minute by minute, for every rule, around every kind of change", () => {
  const field = (max: number) =>
    fc.oneof(
      fc.integer({ min: 0, max }).map(String),
      fc
        .integer({ min: 2, max: 25 })
        .filter((n) => n <= max)
        .map((n) => `*/${n}`),
      fc.tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max })).map(([a, b]) => `${a},${b}`),
      fc.tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max })).map(([a, b]) => `${a}-${b}`),
      fc.constant("*"),
    );
  const hours = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("0", "1", "2", "3", "0-3", "1,2", "*", "23,0") },
    field(23),
  );
  const days = fc.constantFrom("* * *", "* * *", "* * SUN", "* * 5,6", "L * *", "8 * *", "30 12 *");
  const dst = fc.record({
    gap: fc.constantFrom("auto" as const, "skip" as const, "shift" as const, "first-valid" as const),
    overlap: fc.constantFrom("auto" as const, "first" as const, "second" as const, "both" as const),
  });
  const watched = new Map(
    changes.map(([zone, utc]) => [
      `${zone} ${utc}`,
      watch(zone, Date.parse(utc) - 48 * hour, Date.parse(utc) + 48 * hour),
    ]),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...changes),
      field(59),
      hours,
      days,
      dst,
      ([zone, utc], minute, hourText, day, rules) => {
        const text = `${minute} ${hourText} ${day}`;
        const parsed = parseCron(text);
        if (!parsed.ok) throw new Error(parsed.problem);
        const change = Date.parse(utc);
        const inner = (instants: readonly number[]) => instants.filter((each) => Math.abs(each - change) <= 47 * hour);
        const window = { afterExclusive: change - 48 * hour, untilInclusive: change + 48 * hour, max: 10_000 };
        const times = nominalTimes({ form: "cron", cron: text }, zone, rules, window);
        const fires = times.filter(({ kind }) => kind === "fires");
        const ours = fires.map(({ instant }) => instant);
        expect(inner(ours)).toEqual(inner(firesByHand(parsed.cron, rules, watched.get(`${zone} ${utc}`) ?? [])));
        const firing = new Map(fires.map(({ instant, localTime }) => [instant, localTime]));
        for (const { instant, kind, mergedInto } of times)
          expect(mergedInto).toBe(kind === "merged" ? firing.get(instant) : null);
      },
    ),
    { numRuns: 500 },
  );
});

test("every listed change is one", () => {
  const found = changes.map(([zone, utc]) => openZone(zone).transitions(Date.parse(utc) - 1, Date.parse(utc)).length);
  expect(found).toEqual(changes.map(() => 1));
});
