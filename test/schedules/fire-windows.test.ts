import { expect, test } from "vitest";
import { parseCron } from "../../src/core/calendar/cron.ts";
import type { Dst, NominalTime } from "../../src/core/calendar/fires.ts";
import { timetable } from "../../src/core/calendar/timetable.ts";
import { wallTimes } from "../../src/core/calendar/wall-time.ts";
import { rowsByHand, watch } from "./clock.ts";

const hour = 3_600_000;

/** A zone, its change, and hours around it. */
const changes = [
  ["America/New_York", "2026-03-08T07:00Z"],
  ["America/New_York", "2026-11-01T06:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T15:30Z"],
  ["Australia/Lord_Howe", "2026-04-04T15:00Z"],
] as const;
const gaps = ["auto", "skip", "shift", "first-valid"] as const;
const overlaps = ["auto", "first", "second", "both"] as const;

const table = (cron: string, timezone: string, dst: Dst) =>
  timetable({ expression: { form: "cron", cron }, timezone, dst, startAt: null, endAt: null });
const key = ({ localTime, fold, instant }: NominalTime): string => `${localTime}/${fold} ${instant}`;

test.each(changes)(
  "around the change of %s at %s every row is that of a watched clock, and none is doubled",
  (zone, utc) => {
    const [from, until] = [Date.parse(utc) - 6 * hour, Date.parse(utc) + 6 * hour];
    const seen = watch(zone, from - 30 * hour, until + 30 * hour);
    for (const text of ["*/30 * * * *", "*/30 0-4 * * *", "0 1-3 * * *", "0 2 * * *", "0 1 * * *", "30 2,3 * * *"])
      for (const gap of gaps)
        for (const overlap of overlaps) {
          const parsed = parseCron(text);
          if (!parsed.ok) throw new Error(parsed.problem);
          const rows = rowsByHand(parsed.cron, { gap, overlap }, seen).filter(
            ({ nominalAt }) => nominalAt > from && nominalAt <= until,
          );
          const ours = [...table(text, zone, { gap, overlap }).times(from, until)];
          expect([text, gap, overlap, ...ours.map(key).toSorted()]).toEqual([
            text,
            gap,
            overlap,
            ...rows.map(({ localTime, fold, nominalAt }) => `${localTime}/${fold} ${nominalAt}`).toSorted(),
          ]);
          expect(ours.filter(({ kind }) => kind === "dst-gap")).toHaveLength(rows.filter(({ fires }) => !fires).length);
        }
  },
);

test.each(changes)(
  "a window of the times around the change of %s at %s is a part of them, wherever it is cut",
  (zone, utc) => {
    const change = Date.parse(utc);
    for (const gap of gaps)
      for (const overlap of ["first", "second", "both"] as const) {
        const ours = table("*/15 0-4 * * *", zone, { gap, overlap });
        const all = [...ours.times(change - 40 * hour, change + 40 * hour)];
        expect(all.length).toBeGreaterThan(50);
        const cuts = [-30, -2, -1, -0.5, 0, 0.25, 0.5, 1, 1.5, 2, 30].flatMap((hours) => [
          change + hours * hour,
          change + hours * hour - 1,
        ]);
        for (const after of cuts)
          for (const until of cuts) {
            const inside = all.filter(({ instant }) => instant > after && instant <= until);
            expect([gap, overlap, after, until, ...ours.times(after, until)]).toEqual([
              gap,
              overlap,
              after,
              until,
              ...inside,
            ]);
          }
      }
  },
);

test("of several times at one instant the plain one fires, else the first, and the others say into which they merge", () => {
  const jump = Date.parse("2026-03-08T07:00Z");
  const at = (cron: string, gap: Dst["gap"]) =>
    [...table(cron, "America/New_York", { gap, overlap: "auto" }).times(jump - 1, jump + hour)].map(
      ({ localTime, kind, mergedInto, instant }) => [localTime.slice(11), kind, mergedInto?.slice(11), instant - jump],
    );
  const half = 1_800_000;
  expect(at("0,30 2,3 * * *", "first-valid")).toEqual([
    ["03:00", "fires", undefined, 0],
    ["02:00", "merged", "03:00", 0],
    ["02:30", "merged", "03:00", 0],
    ["03:30", "fires", undefined, half],
  ]);
  expect(at("0,30 2,3 * * *", "shift")).toEqual([
    ["03:00", "fires", undefined, 0],
    ["02:00", "merged", "03:00", 0],
    ["03:30", "fires", undefined, half],
    ["02:30", "merged", "03:30", half],
  ]);
  expect(at("0,30 2,3 * * *", "skip")).toEqual([
    ["03:00", "fires", undefined, 0],
    ["02:00", "dst-gap", undefined, 0],
    ["03:30", "fires", undefined, half],
    ["02:30", "dst-gap", undefined, half],
  ]);
  expect(at("10,40 2,3 * * *", "first-valid")).toEqual([
    ["02:10", "fires", undefined, 0],
    ["02:40", "merged", "02:10", 0],
    ["03:10", "fires", undefined, 600_000],
    ["03:40", "fires", undefined, 2_400_000],
  ]);
});

test.each([
  ["30 6 1 * *", (date: Date) => date.getUTCDate() === 1],
  ["30 6 * 1,12 *", (date: Date) => [0, 11].includes(date.getUTCMonth())],
  ["cron(30 6 * * ? 2026,2028)", (date: Date) => [2026, 2028].includes(date.getUTCFullYear())],
])("%s: the readings of a window of years are those of every day by the platform's calendar", (text, isDay) => {
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  const [from, before] = [Date.UTC(2025, 10, 15), Date.UTC(2029, 1, 3)];
  const days = Array.from({ length: (before - from) / (24 * hour) }, (_, k) => from + k * 24 * hour + 6.5 * hour);
  const expected = days.filter((at) => isDay(new Date(at)));
  expect([...wallTimes(parsed.cron, from, before)]).toEqual(expected);
  for (const at of [expected[0] ?? 0, expected.at(-1) ?? 0])
    for (const start of [at - 1, at, at + 1])
      for (const end of [at - 1, at, at + 1])
        expect([start - at, end - at, ...wallTimes(parsed.cron, start, end)]).toEqual([
          start - at,
          end - at,
          ...(start <= at && at < end ? [at] : []),
        ]);
});
