import { describe, expect, test } from "vitest";
import { type CatchUpInput, decideTimes } from "../../src/schedule/catch-up.ts";
import { timetable } from "../../src/calendar/timetable.ts";
import type { NominalTime } from "../../src/calendar/fires.ts";
import { aSpec, hour, latest, midnight, minute } from "./spec.ts";

const now = midnight + hour;
/** Older than this begins an outage. */
const lateFrom = now - 2 * minute;
const table = timetable(aSpec());

const fires = (instant: number): NominalTime => ({
  kind: "fires",
  localTime: "fires",
  fold: 0,
  instant,
  mergedInto: null,
});
const gap = (instant: number): NominalTime => ({ ...fires(instant), kind: "dst-gap", localTime: "gap" });
const merged = (instant: number): NominalTime => ({ ...fires(instant), kind: "merged", mergedInto: "other" });

const input = (over: Partial<CatchUpInput> = {}): CatchUpInput => ({
  table,
  misfire: latest,
  after: midnight,
  now,
  materializeBeforeMs: 0,
  offsetMs: 0,
  carry: null,
  isLastPage: true,
  ...over,
});

const skip = { ...latest, rule: "skip" } as const;
const nothing = { missed: 0, missedUntil: null, catchUpUntil: null };

const brief = (times: readonly NominalTime[], over: Partial<CatchUpInput> = {}): readonly string[] =>
  decideTimes(times, input(over)).decisions.map(({ outcome, reason, isCatchUp, missedCount }) =>
    [isCatchUp ? "CATCH_UP" : outcome, reason, missedCount].filter((part) => part !== null && part !== 0).join(" "),
  );

describe("an outage", () => {
  test.each([
    [-1, ["COALESCED into 2026-11-21T01:00:00", "CATCH_UP 1"]],
    [0, ["PLANNED", "PLANNED"]],
    [1, ["PLANNED", "PLANNED"]],
  ])("begins with a time that is more than two minutes late: %d ms from the bound", (ms, want) => {
    expect(brief([fires(lateFrom + ms), fires(now)])).toEqual(want);
  });

  test("of the rule latest with an age takes a time that is exactly that old", () => {
    const ofAge = (maxAgeMs: number) => brief([fires(lateFrom - 1), fires(now)], { misfire: { ...latest, maxAgeMs } });
    expect(ofAge(0)).toEqual(["COALESCED into 2026-11-21T01:00:00", "CATCH_UP 1"]);
    expect(ofAge(-1)).toEqual(["SKIPPED misfire", "SKIPPED misfire"]);
  });

  test("of the rule skip ends with the last such time", () => {
    const times = [-2, -1, 0, 1].map((ms) => fires(lateFrom + ms));
    expect(brief(times, { misfire: skip })).toEqual(["SKIPPED misfire", "SKIPPED misfire", "PLANNED 2", "PLANNED"]);
  });

  test("does not begin with a reading that the clock skipped or merged, and counts none", () => {
    const others = [gap(midnight + minute), merged(midnight + 2 * minute)];
    const said = ["SKIPPED dst-gap", "COALESCED into other"];
    expect(brief([...others, fires(now)])).toEqual([...said, "PLANNED"]);
    const [one, two] = [fires(midnight + 3 * minute), fires(now)];
    expect(brief([...others, one, two], { misfire: { ...latest, rule: "all" } })).toEqual([
      ...said,
      "CATCH_UP",
      "CATCH_UP",
    ]);
    expect(brief([...others, one, two], { misfire: skip })).toEqual([...said, "SKIPPED misfire", "PLANNED 1"]);
  });

  test("that an earlier page found holds for times that now look only late", () => {
    const carry = { missed: 4, missedUntil: now - minute, catchUpUntil: null };
    const times = [fires(now - minute), fires(now)];
    expect(brief(times, { carry, after: lateFrom })).toEqual(["CATCH_UP 4", "PLANNED"]);
    expect(brief(times, { after: lateFrom })).toEqual(["PLANNED", "PLANNED"]);
  });

  test("that left no time in this page leaves the next one as it is", () => {
    const hourly = timetable(aSpec({ expression: { form: "every", everyMs: hour } }));
    const carry = { ...nothing, missedUntil: midnight + minute };
    expect(brief([fires(now)], { table: hourly, carry })).toEqual(["PLANNED"]);
  });
});

describe("what a page leaves for the next", () => {
  const times = [fires(now - 3 * minute), fires(now)];
  const carryOf = (over: Partial<CatchUpInput>, some: readonly NominalTime[] = times) =>
    decideTimes(some, input(over)).carry;

  test("is the end of the outage, unless this is the last page or the outage ended before it", () => {
    expect(carryOf({ isLastPage: false })).toEqual({ ...nothing, missedUntil: now });
    expect(carryOf({ isLastPage: true })).toBeNull();
    expect(carryOf({ isLastPage: false }, [fires(now)])).toBeNull();
    for (const [ms, until] of [
      [-1, null],
      [0, null],
      [1, midnight + 1],
    ] as const) {
      const left = carryOf({ isLastPage: false, carry: { ...nothing, missed: 1, missedUntil: midnight + ms } }, []);
      expect(left).toEqual({ ...nothing, missed: 1, missedUntil: until });
    }
  });

  test.each([
    [null, null],
    [now - 1, null],
    [now, null],
    [now + 1, { ...nothing, catchUpUntil: now + 1 }],
  ])("is the last paced job's time while that lies ahead: %s", (catchUpUntil, want) => {
    expect(carryOf({ carry: { ...nothing, catchUpUntil } }, [])).toEqual(want);
  });

  test("is the number of missed times without a job", () => {
    expect(carryOf({ misfire: skip }, [fires(now - 3 * minute)])).toEqual({ ...nothing, missed: 1 });
    expect(carryOf({ carry: { ...nothing, missed: 7 } }, [])).toEqual({ ...nothing, missed: 7 });
    expect(carryOf({ carry: { ...nothing, missed: 7 } }, [fires(now)])).toBeNull();
  });
});

test("the pace begins after now or after the last paced job, whichever is later", () => {
  const misfire = { ...latest, rule: "all", paceMs: 10 } as const;
  const due = (catchUpUntil: number | null) =>
    decideTimes([fires(now - hour), fires(now)], input({ misfire, carry: { ...nothing, catchUpUntil } })).decisions.map(
      ({ dueAt }) => (dueAt ?? 0) - now,
    );
  expect([null, now - 1, now, now + 5].map(due)).toEqual([
    [10, 20],
    [10, 20],
    [10, 20],
    [15, 25],
  ]);
});

test("the one job of latest is due now, even if jobs of an earlier rule are still paced", () => {
  const carry = { ...nothing, catchUpUntil: now + 5 };
  const { decisions, carry: left } = decideTimes([fires(now - hour), fires(now)], input({ carry }));
  expect(decisions.map(({ dueAt }) => dueAt)).toEqual([null, now]);
  expect(left).toEqual(carry);
});
