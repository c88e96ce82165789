import { expect, test } from "vitest";
import {
  newestTimes,
  nextFiring,
  take,
  timetable,
  tzProblem,
  type FirePattern,
} from "../../src/core/calendar/timetable.ts";
import { secondText } from "../../src/core/calendar/wall-time.ts";

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

test("what cannot be read fires at no time, and a text tells milliseconds apart", () => {
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
