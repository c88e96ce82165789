import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCron } from "../../src/calendar/cron.ts";
import type { Dst, NominalTime } from "../../src/calendar/fires.ts";
import { nextFire, nextFiring } from "../../src/calendar/timetable.ts";
import { openZone } from "../../src/calendar/zone.ts";
import { nominalTimes } from "../support/nominal-times.ts";
import { firesByHand, watch } from "./clock.ts";

const hour = 3_600_000;
const auto: Dst = { gap: "auto", overlap: "auto" };

function around(cron: string, zone: string, utc: string, dst: Dst = auto, hours = 6): readonly NominalTime[] {
  const change = Date.parse(utc);
  const window = { afterExclusive: change - hours * hour, untilInclusive: change + hours * hour, max: 10_000 };
  return nominalTimes({ form: "cron", cron }, zone, dst, window);
}

const brief = (times: readonly NominalTime[]) =>
  times.map(
    (time) =>
      `${time.localTime.slice(11)}${time.fold === 1 ? "'" : ""} ${new Date(time.instant).toISOString().slice(11, 16)}${mark(time)}`,
  );
const mark = (time: NominalTime): string =>
  time.kind === "fires" ? "" : time.kind === "merged" ? ` into ${time.mergedInto?.slice(11)}` : " dst-gap";

const spring = ["America/New_York", "2026-03-08T07:00Z"] as const;

test("an expression that names its years is searched to the last of them, however far, and not beyond", () => {
  const expression = { form: "cron", cron: "cron(30 6 31 12 ? 2199)" } as const;
  const when = { expression, timezone: "Pacific/Kiritimati", dst: auto, startAt: null, endAt: null };
  const last = Date.UTC(2199, 11, 30, 16, 30);
  expect(nextFire(when, Date.UTC(2026, 0, 1))?.instant).toBe(last);
  expect(nextFire(when, last - 1)?.instant).toBe(last);
  expect(nextFire(when, last)).toBe(null);
});

describe("a gap", () => {
  test.each([
    ["skip", ["02:00 07:00 dst-gap", "02:20 07:20 dst-gap", "02:40 07:40 dst-gap"]],
    ["shift", ["02:00 07:00", "02:20 07:20", "02:40 07:40"]],
    ["first-valid", ["02:00 07:00", "02:20 07:00 into 02:00", "02:40 07:00 into 02:00"]],
    ["auto", ["02:00 07:00", "02:20 07:00 into 02:00", "02:40 07:00 into 02:00"]],
  ] as const)("a daily window inside it, %s", (gap, expected) => {
    expect(brief(around("*/20 2 * * *", ...spring, { gap, overlap: "auto" }))).toEqual(expected);
  });

  test.each([
    ["shift", "30 2,3 * * *", ["03:30 07:30", "02:30 07:30 into 03:30"]],
    ["auto", "0 2,3 * * *", ["03:00 07:00", "02:00 07:00 into 03:00"]],
    ["skip", "30 2,3 * * *", ["03:30 07:30", "02:30 07:30 dst-gap"]],
  ] as const)("a reading of it at the instant of a plain one, %s", (gap, cron, expected) => {
    expect(brief(around(cron, ...spring, { gap, overlap: "auto" }))).toEqual(expected);
  });
});

describe("a page", () => {
  test("never tears the readings of one instant apart", () => {
    const change = Date.parse("2026-03-08T07:00Z");
    const dst: Dst = { gap: "first-valid", overlap: "auto" };
    const window = { afterExclusive: change - 1, untilInclusive: change + hour, max: 1 };
    const page = nominalTimes({ form: "cron", cron: "*/10 2-3 * * *" }, "America/New_York", dst, window);
    expect(page).toHaveLength(7);
    expect(new Set(page.map((time) => time.instant))).toEqual(new Set([change]));
  });

  test("is bounded by max", () => {
    const window = { afterExclusive: 0, untilInclusive: Number.MAX_SAFE_INTEGER, max: 5 };
    expect(nominalTimes({ form: "every", everyMs: 1_000 }, "UTC", auto, window)).toHaveLength(5);
  });
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
        const inner = (instants: readonly number[]) =>
          instants.filter((each) => Math.abs(each - Date.parse(utc)) <= 47 * hour);
        const ours = around(text, zone, utc, rules, 48)
          .filter((time) => time.kind === "fires")
          .map((time) => time.instant);
        expect(inner(ours)).toEqual(inner(firesByHand(parsed.cron, rules, watched.get(`${zone} ${utc}`) ?? [])));
      },
    ),
    { numRuns: 500 },
  );
});

test("every listed change is one", () => {
  const found = changes.map(([zone, utc]) => openZone(zone).transitions(Date.parse(utc) - 1, Date.parse(utc)).length);
  expect(found).toEqual(changes.map(() => 1));
});

test("rows have unique keys, instants in order, and exactly one firing row at each instant that fires", () => {
  const cron = fc.constantFrom("*/7 * * * *", "30 1-3 * * *", "0 0,1,2,3 * * *", "*/30 0-4 * * *");
  const gap = fc.constantFrom("auto" as const, "skip" as const, "shift" as const, "first-valid" as const);
  const overlap = fc.constantFrom("auto" as const, "first" as const, "second" as const, "both" as const);
  fc.assert(
    fc.property(fc.constantFrom(...changes), cron, gap, overlap, ([zone, utc], text, gapRule, overlapRule) => {
      const times = around(text, zone, utc, { gap: gapRule, overlap: overlapRule }, 48);
      expect(new Set(times.map((time) => `${time.localTime}/${time.fold}`)).size).toBe(times.length);
      expect(times.map((time) => time.instant)).toEqual(times.map((time) => time.instant).toSorted((a, b) => a - b));
      const fires = times.filter((time) => time.kind === "fires").map((time) => time.instant);
      expect(new Set(fires).size).toBe(fires.length);
      for (const time of times.filter((each) => each.kind === "merged")) expect(fires).toContain(time.instant);
    }),
    { numRuns: 300 },
  );
});
