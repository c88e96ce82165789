import { expect, test } from "vitest";
import { parseCron } from "../../src/calendar/cron.ts";
import { nextFire, type Timetable, timetable } from "../../src/calendar/timetable.ts";
import type { CalendarRule } from "../../src/machine/schedule.ts";
import { rowsByHand, type Seen, watch } from "./clock.ts";
import { dateOfReading } from "./calendar-by-hand.ts";
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

const dayMs = 86_400_000;
const halfHour = 1_800_000;
/** A gap, an overlap, half an hour of each, a day that does not exist. */
const changes = [
  ["America/New_York", Date.parse("2026-03-08T07:00Z")],
  ["America/New_York", Date.parse("2026-11-01T06:00Z")],
  ["Australia/Lord_Howe", Date.parse("2026-10-03T15:30Z")],
  ["Pacific/Apia", Date.parse("2011-12-30T10:00Z")],
] as const;
/** Around one change there is a gap or an overlap, so that no rule for the one meets one for the other. */
const rules = [
  { gap: "auto", overlap: "auto" },
  { gap: "skip", overlap: "first" },
  { gap: "shift", overlap: "second" },
  { gap: "first-valid", overlap: "both" },
] as const;
const crons = ["30 2 * * *", "0,30 0-2 * * *", "0 * * * SUN"];
const none = { dates: [], weekdays: [], yearly: [] };
/** Days from that of the change: it alone, those before it, those after it, its week's end with it; and a list of days. */
const closedDays = [[0], [-2, -1], [1, 2], [-1, 0, 1]];

function rulesAround(change: number): readonly CalendarRule[] {
  const date = (day: number): string => dateOfReading(change + day * dayMs);
  const closed = closedDays.map((days) => [{ ...none, id: "closed", dates: days.map(date) }]);
  const lists = [
    ...closed.map((except) => ({ except, only: null })),
    { except: [{ ...none, id: "weekend", weekdays: ["sun", "sat"] as const }], only: null },
    {
      except: [],
      only: {
        ...none,
        id: "open",
        yearly: [-12, -11, -10, -9, -8, -7, -6, -5, -4, -3, 1, 3, 4, 6, 7, 8, 9, 10, 11, 12]
          .map((day) => date(day).slice(5))
          .toSorted(),
      },
    },
  ];
  return (["skip", "next", "previous", "next-business-day", "previous-business-day"] as const).flatMap((onExcluded) =>
    lists.map((list) => ({ ...list, onExcluded })),
  );
}

test("every rule of exclusion with every rule for gaps and overlaps has the rows that a walk from day to day finds", () => {
  let compared = 0;
  for (const [zone, change] of changes) {
    const seen = watch(zone, change - 9 * dayMs, change + 9 * dayMs).filter(({ reading }) => reading % halfHour === 0);
    for (const calendars of rulesAround(change))
      for (const cron of crons)
        for (const dst of rules) compared += compare({ zone, cron, dst, calendars }, seen, change);
  }
  expect(compared).toBeGreaterThan(12_500);
});

interface Case {
  readonly zone: string;
  readonly cron: string;
  readonly dst: Parameters<typeof rowsByHand>[1];
  readonly calendars: CalendarRule;
}

/** @returns how many rows were compared. */
function compare({ zone, cron, dst, calendars }: Case, seen: readonly Seen[], change: number): number {
  const parsed = parseCron(cron);
  if (!parsed.ok) throw new Error(parsed.problem);
  const [after, until] = [change - 4 * dayMs, change + 4 * dayMs];
  const expected = rowsByHand(parsed.cron, dst, seen, calendars).filter(
    ({ nominalAt }) => nominalAt > after && nominalAt <= until,
  );
  const expression = { form: "cron", cron } as const;
  const table = timetable({ expression, timezone: zone, dst, calendars, startAt: null, endAt: null });
  const times = [...table.times(after, until)];
  const where = JSON.stringify({ zone, cron, dst, calendars });
  const wanted = expected.map(
    (row) => `${row.localTime}/${row.fold} ${row.nominalAt} ${row.fires} ${row.calendar ?? ""}`,
  );
  const found = times.map(({ localTime, fold, instant, kind, calendar = "" }) => {
    return `${localTime}/${fold} ${instant} ${kind === "fires" || kind === "merged"} ${calendar}`;
  });
  expect({ where, rows: found.toSorted() }).toEqual({ where, rows: wanted.toSorted() });
  const fires = times.filter(({ kind }) => kind === "fires").map(({ instant }) => instant);
  expect({ where, fires }).toEqual({
    where,
    fires: [...new Set(expected.flatMap((row) => (row.fires ? [row.nominalAt] : [])))].toSorted((a, b) => a - b),
  });
  const distinct = [...new Set(times.map(({ instant }) => instant))];
  // From one time to the next there is nothing that the window did not have; of the expression with the fewest times.
  const steps = cron === crons[0] ? stepsOf(table, after, until) : distinct;
  expect({ where, steps }).toEqual({ where, steps: distinct });
  return times.length;
}

function stepsOf(table: Timetable, after: number, until: number): readonly number[] {
  const steps: number[] = [];
  for (let at = table.next(after); at !== null && at.instant <= until; at = table.next(at.instant))
    steps.push(at.instant);
  return steps;
}

test("a time moves by at most 31 days, and a schedule without a day left has no next time", () => {
  const long = defineCalendar({ id: "long", dates: ["2026-03-02..2026-04-01"] });
  const asked = { cron: "0 9 2 3 *", except: long, onExcluded: "next" };
  expect(timesBetween("2026-03-01", "2026-05-01", asked)).toEqual([
    "03-02T09:00 at 04-02T09:00 fires long: 2026-03-02..2026-04-01",
  ]);
  const longer = defineCalendar({ id: "long", dates: ["2026-03-02..2026-04-02"] });
  expect(timesBetween("2026-03-01", "2026-05-01", { ...asked, except: longer })).toEqual([
    "03-02T09:00 excluded long: 2026-03-02..2026-04-02",
  ]);
  const next = (options: object): string | undefined => {
    const { expression, timezone, dst, calendars } = defineSchedule({
      id: "s",
      timezone: "UTC",
      run: job,
      cron: "0 9 * * SUN",
      ...options,
    }).spec("test", "test");
    const found = nextFire(
      { expression, timezone, dst, calendars: calendars as CalendarRule, startAt: null, endAt: null },
      Date.UTC(2026, 0, 1),
    );
    return found === null ? undefined : new Date(found.instant).toISOString();
  };
  expect(next({ except: weekend })).toBeUndefined();
  expect(next({ except: weekend, onExcluded: "next" })).toBe("2026-01-05T09:00:00.000Z");
  expect(next({ only: defineCalendar({ dates: ["2031-01-05"] }) })).toBe("2031-01-05T09:00:00.000Z");
  expect(next({ only: defineCalendar({ dates: ["2020-01-05"] }) })).toBeUndefined();
});
