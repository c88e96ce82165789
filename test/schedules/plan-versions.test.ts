import { describe, expect, test } from "vitest";
import { versionIntervalAt, versionIntervals } from "../../src/core/calendar/version-intervals.ts";
import { planNext, planVersions } from "../../src/core/scheduler/plan-versions.ts";
import { planSchedule } from "../../src/core/scheduler/plan.ts";
import type { Carry, ScheduleRow, ScheduleSpec } from "../../src/core/ports/schedule.ts";
import { aRow, aSpec, hour, latest, midnight, minute } from "./spec.ts";

const now = midnight + hour;
const options = { now, dispatchWindowMs: 0, timesMax: 1_000 };
const carried: Carry = { missed: 5, missedUntil: null, catchUpUntil: null };
const edited: Carry = { ...carried, edited: true };
const every10 = aSpec({ expression: { form: "every", everyMs: 10 * minute } });

const version = (number: number, minutes: number, spec: ScheduleSpec | null = every10) => ({
  version: number,
  spec,
  fromAt: midnight + minutes * minute,
});
const stored = (number: number, decided: number, over: Partial<ScheduleRow> = {}): ScheduleRow =>
  aRow({ version: number, spec: every10, decidedUntil: midnight + decided * minute, carry: edited, ...over });

/** The version that decides, its times in minutes, and what it carries. */
function decided(row: ScheduleRow, versions: readonly ReturnType<typeof version>[]) {
  const { row: decider, plan } = planVersions(row, versions, options);
  return {
    by: decider.version,
    times: plan.decisions.map(({ time, outcome }) => `${(time.instant - midnight) / minute} ${outcome}`),
    carry: plan.carry,
    until: (plan.decidedUntil - midnight) / minute,
  };
}

const planned = (...minutes: number[]): string[] => minutes.map((each) => `${each} PLANNED`);
const merged = (...minutes: number[]): string[] => minutes.map((each) => `${each} COALESCED`);

describe("which version decides", () => {
  test("its own without asking for others, unless an edit left times of one", async () => {
    const asked: string[] = [];
    const store = { scheduleFacts: async (id: string) => (asked.push(id), null) };
    expect(await planNext(store, stored(2, 0, { carry: null }), options)).toMatchObject({ row: { version: 2 } });
    expect(await planNext(store, stored(2, 0, { carry: carried }), options)).toMatchObject({ row: { version: 2 } });
    expect(asked).toEqual([]);
    expect(await planNext(store, stored(2, 0), options)).toMatchObject({ row: { version: 2 } });
    expect(asked).toEqual(["s"]);
  });

  test.each([
    [29, 1],
    [30, 2],
    [31, 2],
  ])("decided up to minute %d of an edit at 30: version %d", (minutes, by) => {
    expect(decided(stored(2, minutes), [version(1, 0), version(2, 30)]).by).toBe(by);
  });

  test("one that ended decides up to its end and no further, and an outage goes on in the next", () => {
    expect(decided(stored(2, 0), [version(1, 0), version(2, 30)])).toEqual({
      by: 1,
      times: [...merged(10, 20), ...planned(30)],
      carry: { missed: 0, missedUntil: now, catchUpUntil: null, edited: true },
      until: 30,
    });
  });

  const once = (ms: number, endAt: number | null): ScheduleSpec =>
    aSpec({ expression: { form: "at", at: midnight + 30 * minute + ms }, endAt });
  test.each([
    [0, null, 1],
    [1, null, 0],
    [0, 31, 1],
    [1, 31, 0],
    [0, 30, 0],
    [-1, 30, 1],
  ])("a time %d ms from the end of its version, which ends by itself at %s: %d row", (ms, ends, rows) => {
    const spec = once(ms, ends === null ? null : midnight + ends * minute);
    expect(decided(stored(2, 0), [version(1, 0, spec), version(2, 30)]).times).toHaveLength(rows);
  });

  test("one that was off decides nothing and carries on what it got", () => {
    const off = { ...every10, enabled: false };
    const nothing = { by: 1, times: [], until: 30 };
    const versions = [version(1, 0, off), version(2, 30)];
    expect(decided(stored(2, 0), versions)).toEqual({ ...nothing, carry: edited });
    const none = { missed: 0, missedUntil: null, catchUpUntil: null, edited: true };
    expect(decided(stored(2, 0, { carry: null }), versions)).toEqual({ ...nothing, carry: none });
    expect(planVersions(stored(2, 40, { spec: off }), versions, options).plan).toEqual({
      decisions: [],
      decidedUntil: midnight + 40 * minute,
      nextAt: null,
      carry: null,
      missed: 0,
      isComplete: true,
    });
  });
});

describe("a deletion", () => {
  test("starts none of the times before it, caught up or not", () => {
    const { plan } = planVersions(stored(3, 0), [version(1, 0), version(2, 30, null), version(3, 40)], options);
    const last = plan.decisions.at(-1);
    expect(last).toMatchObject({
      outcome: "SKIPPED",
      reason: "deleted",
      isCatchUp: false,
      missedCount: 0,
      dueAt: null,
    });
    expect(plan.decisions.map(({ outcome }) => outcome)).toEqual(["COALESCED", "COALESCED", "SKIPPED"]);
  });

  test("keeps what was carried for the version before it", () => {
    const all = aSpec({ ...every10, misfire: { ...latest, rule: "skip" } });
    const versions = [version(1, 0, all), version(2, 30, null), version(3, 40)];
    expect(decided(stored(3, 0), versions).carry).toMatchObject({ missed: 8 });
  });

  test.each([
    [29, 1, 29, 5],
    [30, 3, 35, undefined],
    [31, 3, 31, 5],
  ])("decided up to minute %d: version %d goes on from %d, with %s missed", (minutes, by, from, missed) => {
    const versions = [version(1, 0), version(2, 30, null), version(3, 35)];
    const spec = aSpec({ expression: { form: "at", at: midnight } });
    const past = planVersions(stored(3, minutes, { spec }), versions, options);
    const { row } = past;
    expect([row.version, (row.decidedUntil - midnight) / minute, row.carry?.missed]).toEqual([by, from, missed]);
  });

  test("of an earlier time leaves the jobs of a version that was made after it", () => {
    const versions = [version(1, 0), version(2, 10, null), version(3, 20), version(4, 55)];
    expect(decided(stored(4, 25), versions)).toMatchObject({ by: 3, times: [...merged(30, 40), ...planned(50)] });
  });

  test("is none where an edit follows another at one instant: the count of missed times stays", () => {
    const off = { ...every10, enabled: false };
    const versions = [version(1, 30), version(2, 30, off), version(3, 50)];
    expect(decided(stored(3, 30), versions)).toMatchObject({ by: 2, carry: edited });
  });
});

describe("a page", () => {
  test("carries the outage on while it is not complete, or not of the last version", () => {
    const plan = (over: object) => planSchedule(aRow(), { ...options, ...over });
    expect(plan({ timesMax: 3 })).toMatchObject({ isComplete: false, carry: { missedUntil: now } });
    expect(plan({ isLastVersion: false })).toMatchObject({ isComplete: true, carry: { missedUntil: now } });
    expect(plan({ isLastVersion: true })).toMatchObject({ isComplete: true, carry: null });
    expect(plan({})).toMatchObject({ isComplete: true, carry: null });
  });

  test("of a schedule with its own rule is looked at again a minute and a half after the next time", () => {
    const at = (launch: "rule" | "tick", materializeBeforeMs = 0) =>
      planSchedule(aRow({ spec: aSpec({ ...every10, launch, materializeBeforeMs }) }), { ...options, now: midnight })
        .nextAt;
    expect(at("rule")).toBe(midnight + 10 * minute + 90_000);
    expect(at("tick")).toBe(midnight + 10 * minute);
    expect(at("tick", minute)).toBe(midnight + 9 * minute);
  });
});

test("a version is in force after its start, up to the start of the next; one that was replaced at once never was", () => {
  const at = (minutes: number): number => midnight + minutes * minute;
  const versions = [version(1, 10), version(2, 20), version(3, 20), version(4, 30, null), version(5, 40)];
  expect(versionIntervals(versions).map(({ version: number, from, until }) => [number, from, until])).toEqual([
    [1, at(10), at(20)],
    [3, at(20), at(30)],
    [5, at(40), Number.POSITIVE_INFINITY],
  ]);
  const inForce = (instant: number): number | null => versionIntervalAt(versions, instant)?.version ?? null;
  expect([10, 20, 30, 40].map((minutes) => [inForce(at(minutes)), inForce(at(minutes) + 1)])).toEqual([
    [null, 1],
    [1, 3],
    [3, null],
    [null, 5],
  ]);
});
