import { expect, test } from "vitest";
import {
  newestTimes,
  nextFire,
  nextFiring,
  take,
  timetable,
  tzProblem,
  type FirePattern,
} from "../../src/calendar/timetable.ts";
import { secondText } from "../../src/calendar/cron.ts";

const when = (expression: FirePattern["expression"], over: Partial<FirePattern> = {}): FirePattern => ({
  expression,
  timezone: "UTC",
  dst: { gap: "auto", overlap: "auto" },
  startAt: null,
  endAt: null,
  ...over,
});
const instants = (given: FirePattern, after: number, until: number): number[] =>
  [...timetable(given).times(after, until)].map(({ instant }) => instant);

test("a single time is in the window that is open at its start and closed at its end", () => {
  const at = when({ form: "at", at: 5_000 });
  for (let after = 4_998; after <= 5_002; after += 1) {
    expect(timetable(at).next(after)?.instant ?? null).toBe(after < 5_000 ? 5_000 : null);
    for (let until = after; until <= 5_002; until += 1)
      expect(instants(at, after, until)).toEqual(after < 5_000 && until >= 5_000 ? [5_000] : []);
  }
  expect(timetable(at).next(0)).toEqual({
    localTime: "1970-01-01T00:00:05",
    fold: 0,
    instant: 5_000,
    kind: "fires",
    mergedInto: null,
  });
});

test("startAt counts and endAt does not, in windows and for the next time", () => {
  const all = [...Array(12).keys()].map((n) => n * 10);
  for (const startAt of [null, 29, 30, 31])
    for (const endAt of [null, 69, 70, 71]) {
      const given = when({ form: "every", everyMs: 10 }, { startAt, endAt });
      const anchored = all.map((at) => at + (startAt ?? 0)).filter((at) => endAt === null || at < endAt);
      expect(instants(given, -1, 100)).toEqual(anchored.filter((at) => at <= 100));
      for (let after = -1; after < 100; after += 1)
        expect([after, timetable(given).next(after)?.instant ?? null]).toEqual([
          after,
          anchored.find((at) => at > after) ?? null,
        ]);
    }
});

test("a time one millisecond before startAt is none", () => {
  const minutely = when({ form: "cron", cron: "* * * * *" }, { startAt: 60_001, endAt: 180_001 });
  expect(instants(minutely, 0, 240_000)).toEqual([120_000, 180_000]);
  expect(timetable(minutely).next(0)?.instant).toBe(120_000);
  expect(timetable(minutely).next(120_000)?.instant).toBe(180_000);
});

test("older tz data is a problem only for an expression in a zone that needs it", () => {
  const cron = { form: "cron", cron: "0 8 * * *" } as const;
  const every = { form: "every", everyMs: 1_000 } as const;
  const ask = (expression: FirePattern["expression"], timezone: string, tzVersion: string) =>
    tzProblem({ expression, timezone, tzVersion }, "2026b");
  expect(ask(cron, "Asia/Seoul", "2026c")).toContain("computed with tz data 2026c, this scheduler has 2026b");
  for (const [expression, timezone, version] of [
    [cron, "Asia/Seoul", "2026b"],
    [cron, "Asia/Seoul", "2026a"],
    [cron, "UTC", "2026c"],
    [every, "Asia/Seoul", "2026c"],
  ] as const)
    expect(ask(expression, timezone, version)).toBeNull();
});

test("the newest times are the last of the window, in order, however long the pauses are", () => {
  for (const everyMs of [60_000, 3_600_000, 50_000_000]) {
    const table = timetable(when({ form: "every", everyMs }));
    const until = 400_000_000;
    const last = Math.floor(until / everyMs);
    for (const count of [1, 2, 3, 8]) {
      const expected = Array.from({ length: Math.min(count, last + 1) }, (_, k) => (last - k) * everyMs).toReversed();
      expect(newestTimes(table, -1, until, count).map(({ instant }) => instant)).toEqual(expected.slice(-count));
    }
  }
});

test("what cannot be read fires at no time, and a text shows milliseconds", () => {
  expect(nextFiring(when({ form: "cron", cron: "61 * * * *" }), 0)).toBeNull();
  expect(nextFiring(when({ form: "at", at: 5 }), 5)).toBeNull();
  expect(take(timetable(when({ form: "every", everyMs: 10 })).times(0, 100), 2)).toHaveLength(2);
  expect([0, 1, 999, 1_000].map(secondText)).toEqual([
    "1970-01-01T00:00:00",
    "1970-01-01T00:00:00.001",
    "1970-01-01T00:00:00.999",
    "1970-01-01T00:00:01",
  ]);
});

const newYork = (cron: string, gap: FirePattern["dst"]["gap"]): FirePattern =>
  when({ form: "cron", cron }, { timezone: "America/New_York", dst: { gap, overlap: "auto" } });

test("an expression all of whose times lie in gaps fires at no time, and its next time is the one that is skipped", () => {
  const second = newYork("30 2 * 3 SUN#2", "skip");
  expect(nextFire(second, Date.UTC(2026, 0, 1))).toBeNull();
  expect(timetable(second).next(Date.UTC(2026, 0, 1))).toMatchObject({
    localTime: "2026-03-08T02:30",
    kind: "dst-gap",
  });
  expect(nextFiring(newYork("30 2 8 3 *", "skip"), Date.UTC(2026, 0, 1))).toBe(Date.parse("2027-03-08T07:30Z"));
});

test("a mistake of the program is not taken for an expression that cannot be read", () => {
  const broken = when(undefined as never);
  expect(() => nextFiring(broken, 0)).toThrow(TypeError);
  expect(nextFiring({ ...broken, expression: { form: "cron", cron: "0 0 30 2 *" } }, 0)).toBeNull();
  const nowhere = when({ form: "cron", cron: "0 0 * * *" }, { timezone: "Asia/Nowhere" });
  expect(nextFiring(nowhere, 0)).toBeNull();
  expect(() => timetable(nowhere)).toThrow(RangeError);
});

test("without a start, times before 1970 count too", () => {
  expect(instants(when({ form: "every", everyMs: 10 }), -35, -5)).toEqual([-30, -20, -10]);
  expect(timetable(when({ form: "every", everyMs: 10 })).next(-35)?.instant).toBe(-30);
});

/** The times by hand: each day's reading of 06:30 in UTC that the rule takes. */
function daysThat(from: number, until: number, isDay: (date: Date) => boolean): number[] {
  const found: number[] = [];
  for (let at = from + 6.5 * 3_600_000; at <= until; at += 86_400_000) if (isDay(new Date(at))) found.push(at);
  return found;
}

test.each<[string, (date: Date) => boolean]>([
  ["30 6 * * *", () => true],
  ["30 6 * * 1", (date) => date.getUTCDay() === 1],
  ["30 6 1 * *", (date) => date.getUTCDate() === 1],
  ["30 6 31 12 *", (date) => date.getUTCDate() === 31 && date.getUTCMonth() === 11],
  ["30 6 1 1 *", (date) => date.getUTCDate() === 1 && date.getUTCMonth() === 0],
  ["30 6 29 2 *", (date) => date.getUTCDate() === 29 && date.getUTCMonth() === 1],
  ["30 6 ? 2 MON#5", (date) => date.getUTCDate() === 29 && date.getUTCMonth() === 1 && date.getUTCDay() === 1],
  ["cron(30 6 ? 2 2#5 1972-2199)", (date) => date.getUTCDate() === 29 && date.getUTCDay() === 1 && isFebruary(date)],
])("%s: the next time of each time is the one after it, over 120 years across 2100", (cron, isDay) => {
  const [from, until] = [Date.UTC(2020, 0, 1), Date.UTC(2140, 0, 1)];
  const expected = daysThat(from, until, isDay);
  const step = Math.ceil(expected.length / 200);
  const table = timetable(when({ form: "cron", cron }));
  const pairs = expected.map((at, index) => [expected[index - 1] ?? from, at] as const);
  for (const [before, at] of pairs.filter((_, index) => index % step === 0)) {
    expect([before, table.next(before)?.instant]).toEqual([before, at]);
    expect([at, table.next(at - 1)?.instant]).toEqual([at, at]);
  }
});

const isFebruary = (date: Date): boolean => date.getUTCMonth() === 1;

test("the newest times leave out those of a gap and those before the window, and end at its last instant", () => {
  const day = 86_400_000;
  const jump = Date.parse("2026-03-08T07:00Z");
  const skips = timetable(newYork("30 2 * * *", "skip"));
  const shown = (after: number, until: number, count: number): string[] =>
    newestTimes(skips, after, until, count).map(({ localTime }) => localTime.slice(5, 10));
  expect(shown(jump - 3 * day, jump + 2 * day, 3)).toEqual(["03-07", "03-09", "03-10"]);
  expect(shown(jump - 3 * day, jump + 2 * day, 9)).toEqual(["03-05", "03-06", "03-07", "03-09", "03-10"]);
  const minutely = timetable(when({ form: "every", everyMs: 60_000 }));
  for (const minutes of [1, 5, 59, 60, 61, 299, 300, 301]) {
    const times = newestTimes(minutely, 7_200_000, 7_200_000 + minutes * 60_000, 500).map(({ instant }) => instant);
    expect(times).toEqual(Array.from({ length: minutes }, (_, k) => 7_260_000 + k * 60_000));
  }
});

test("a page ends with the last of the times at one instant", () => {
  const jump = Date.parse("2026-03-08T07:00Z");
  const merged = timetable(newYork("*/20 2 * * *", "first-valid"));
  const page = (max: number) => take(merged.times(jump - 86_400_000, jump + 86_400_000), max).length;
  expect([0, 1, 2, 3, 4, 5, 6, 7].map(page)).toEqual([0, 1, 2, 5, 5, 5, 6, 7]);
});
