import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineJob } from "../../src/core/define/define-job.ts";
import { defineSchedule, type ScheduleOptions } from "../../src/core/define/define-schedule.ts";
import { describe as line } from "../../src/core/define/problem.ts";

// Defined in each test: what runs while a file is loaded is no part of a test, and `mutate` leaves it out.
const job = () => defineJob({ id: "job", run: () => {} });
const schedule = (options: object) => defineSchedule({ id: "s", run: job(), ...options } as ScheduleOptions<void>);
const problemsOf = (options: object): readonly string[] => (schedule(options).problems ?? []).map(line);
const specOf = (options: object, stage = "dev") => schedule(options).spec(stage, "app");
const cron = { cron: "0 8 * * *", timezone: "Asia/Seoul" };

describe("every choice there is can be written", () => {
  test.each(["auto", "skip", "shift", "first-valid"])("dst.gap %s", (gap) => {
    expect(specOf({ ...cron, dst: { gap } }).dst).toEqual({ gap, overlap: "auto" });
  });
  test.each(["auto", "first", "second", "both"])("dst.overlap %s", (overlap) => {
    expect(specOf({ ...cron, dst: { overlap } }).dst).toEqual({ gap: "auto", overlap });
  });
  test.each(["skip", "queue-one", "allow"])("overlap %s", (overlap) => {
    expect(specOf({ ...cron, overlap }).overlap).toBe(overlap);
  });
  test.each(["skip", "latest", "all"])("misfire %s", (misfire) => {
    expect(specOf({ ...cron, misfire }).misfire).toEqual({
      rule: misfire,
      maxAgeMs: null,
      maxCount: null,
      paceMs: 1_000,
    });
  });
  test.each(["tick", "rule"])("launch %s", (launch) => {
    expect(specOf({ ...cron, launch }).launch).toBe(launch);
  });
});

describe("bounds of a catch-up", () => {
  test.each([
    [
      { maxAge: "1ms", maxCount: 1, pace: "1ms" },
      { maxAgeMs: 1, maxCount: 1, paceMs: 1 },
    ],
    [
      { maxAge: "366d", maxCount: 100_000, pace: "366d" },
      { maxAgeMs: 31_622_400_000, maxCount: 100_000, paceMs: 31_622_400_000 },
    ],
    [{}, { maxAgeMs: null, maxCount: null, paceMs: 1_000 }],
  ])("%j are taken", (all, expected) => {
    expect(specOf({ ...cron, misfire: { all } }).misfire).toEqual({ rule: "all", ...expected });
  });

  test.each([
    [{ maxAge: "0ms" }, 'misfire.all.maxAge "0ms" must be at least 1ms'],
    [{ maxAge: "367d" }, 'misfire.all.maxAge "367d" must be at most 366d'],
    [{ maxCount: 0 }, "misfire.all.maxCount 0 must be a whole number from 1 to 100000"],
    [{ pace: "0ms" }, 'misfire.all.pace "0ms" must be at least 1ms'],
  ])("%j are refused", (all, expected) => {
    expect(problemsOf({ ...cron, misfire: { all } })).toEqual([expect.stringContaining(expected)]);
  });
});

describe("a setting by stage", () => {
  test("launches by the tick where nothing else is said", () => {
    expect(specOf(cron).launch).toBe("tick");
    expect(specOf({ ...cron, launch: { prod: "rule" } }).launch).toBe("tick");
    expect(specOf({ ...cron, launch: { prod: "rule" } }, "prod").launch).toBe("rule");
    expect(specOf({ ...cron, launch: { default: "rule" } }).launch).toBe("rule");
  });

  test.each([
    [{ prod: "2m", test: "3m" }, 120_000],
    [{ test: "3m", prod: "2m" }, 180_000],
    [{ default: "4m", prod: "2m" }, 240_000],
    [{}, 60_000],
  ])("a stage without a value in %j, where it is off, has a rate of %i ms", (every, everyMs) => {
    expect(specOf({ every, enabled: false }).expression).toEqual({ form: "every", everyMs });
  });

  test("is kept as it was written, one for all stages is not", () => {
    expect(schedule({ every: "5m", enabled: true, launch: "tick" }).staged).toEqual({});
    const staged = { every: { dev: "5m" }, enabled: { dev: true }, launch: { dev: "tick" } };
    expect(schedule(staged).staged).toEqual(staged);
  });
});

describe("what goes with what", () => {
  const why = "goes with cron: `every` counts elapsed time and `at` is an instant, so no clock changes either";
  const at = "2026-12-31T09:00:00Z";
  test.each<[object, readonly string[]]>([
    [{ every: "1m", timezone: "Asia/Seoul" }, [`timezone "Asia/Seoul" ${why}; leave it out`]],
    [{ at, timezone: "Asia/Seoul" }, [`timezone "Asia/Seoul" ${why}; leave it out`]],
    [{ every: "1m", timezone: "UTC" }, []],
    [{ every: "1m", dst: {} }, [`dst {} ${why}; leave it out`]],
    [{ at, dst: { gap: "skip" } }, [`dst {"gap":"skip"} ${why}; leave it out`]],
    [{}, ["cron, every, at [] exactly one of them says when it fires; keep one of the three"]],
    [{ every: 5 }, ['every 5 is not a duration; write a number and a unit, like "500ms", "30s", "5m", "2h" or "1d"']],
    [{ every: "rate(0 minutes)" }, [expect.stringContaining('every "rate(0 minutes)"')]],
    [{ at: "at(soon)" }, [expect.stringContaining('at "at(soon)"')]],
    [
      { at: 5 },
      ['at "5" is not an instant; write date, time and offset, like "2026-12-31T09:00:00+09:00" or with "Z"'],
    ],
  ])("%j", (options, expected) => {
    expect(problemsOf(options)).toEqual(
      expected.map((text) => (typeof text === "string" ? `schedule "s": ${text}` : text)),
    );
  });

  const [early, late] = ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.001Z"];
  test.each<[object, object]>([
    [{}, { startAt: null, endAt: null }],
    [{ startAt: early }, { startAt: 0, endAt: null }],
    [{ startAt: late }, { startAt: 1, endAt: null }],
    [{ endAt: early }, { startAt: null, endAt: 0 }],
    [
      { startAt: early, endAt: late },
      { startAt: 0, endAt: 1 },
    ],
  ])("the period %j is taken", (period, expected) => {
    expect(specOf({ ...cron, ...period })).toMatchObject(expected);
  });

  test.each([
    [early, early],
    [late, early],
  ])("a period from %s to %s is refused", (startAt, endAt) => {
    expect(problemsOf({ ...cron, startAt, endAt })).toEqual([
      `schedule "s": endAt "${endAt}" must be after startAt ${startAt}; change one of them`,
    ]);
  });
});

describe("a fixed payload", () => {
  const keyed = () =>
    defineJob({
      id: "keyed",
      payload: z.object({ name: z.string() }),
      key: ({ name }) => name,
      run: () => {},
    });
  const named = (length: number) => problemsOf({ every: "1m", run: keyed(), payload: { name: "n".repeat(length) } });

  test.each([1, 512])("may have a key of %i characters", (length) => {
    expect(named(length)).toEqual([]);
  });

  test.each([0, 513])("may not have a key of %i characters", (length) => {
    expect(named(length)).toEqual([
      expect.stringContaining(`of this payload must be 1 to 512 characters, it has ${length}; shorten it`),
    ]);
  });

  const throwing = (thrown: unknown) => ({
    "~standard": {
      version: 1 as const,
      vendor: "own",
      validate: (): never => {
        throw thrown;
      },
    },
  });
  test.each<[unknown]>([[new Error("out of order")], ["out of order"]])(
    "whose schema throws is a problem with what it says: %o",
    (thrown) => {
      const run = defineJob({ id: "own", payload: throwing(thrown), run: () => {} });
      expect(problemsOf({ every: "1m", run, payload: { name: "a" } })).toEqual([
        'schedule "s": payload "(value)" out of order; change the payload',
      ]);
    },
  );
});
