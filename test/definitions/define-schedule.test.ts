import { expect, test, describe } from "vitest";
import { z } from "zod";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule, type ScheduleOptions } from "../../src/define/define-schedule.ts";
import type { Occurrence } from "../../src/define/definition.ts";
import { describe as line } from "../../src/define/problem.ts";

const job = defineJob({ id: "job", lock: {}, concurrency: 3, run: () => {} });
const greet = defineJob({ id: "greet", payload: z.object({ name: z.string() }), key: (p) => p.name, run: () => {} });

const at = defineJob({ id: "at", payload: z.object({ at: z.date() }), run: () => {} });

const schedule = (options: object) => defineSchedule({ id: "s", run: job, ...options } as ScheduleOptions<void>);
const problemsOf = (options: object): readonly string[] => (schedule(options).problems ?? []).map(line);

test("a cron schedule becomes a spec with the documented defaults", () => {
  const { spec } = defineSchedule({ id: "s", cron: "0 8 * * *", timezone: "Asia/Seoul", run: job });
  expect(spec("dev", "app")).toEqual({
    id: "s",
    app: "app",
    expression: { form: "cron", cron: "0 8 * * *" },
    timezone: "Asia/Seoul",
    dst: { gap: "auto", overlap: "auto" },
    misfire: { rule: "latest", maxAgeMs: null, maxCount: null, paceMs: 1_000 },
    overlap: "allow",
    startAt: null,
    endAt: null,
    enabled: true,
    tzVersion: process.versions.tz,
    payload: null,
    job: {
      kind: "job",
      lane: "default",
      leaseMs: 20_000,
      maxAttempts: 4,
      retentionMs: 2_592_000_000,
      slotKeys: ["cap:job", "lock:job"],
    },
    materializeBeforeMs: 0,
    launch: "tick",
  });
});

test("rate and enabled differ by stage, and a stage not named in enabled is off", () => {
  const { spec } = defineSchedule({
    id: "s",
    every: { default: "5m", prod: "1m" },
    enabled: { prod: true, dev: false },
    run: job,
  });
  const of = (stage: string) => {
    const { expression, enabled } = spec(stage, "app");
    return { expression, enabled };
  };
  expect(of("prod")).toEqual({ expression: { form: "every", everyMs: 60_000 }, enabled: true });
  expect(of("dev")).toEqual({ expression: { form: "every", everyMs: 300_000 }, enabled: false });
  expect(of("demo").enabled).toBe(false);
});

test("an instant is the same whatever zone this process runs in", () => {
  const { spec } = defineSchedule({ id: "s", at: "2026-12-31T23:59:00+09:00", run: job });
  expect(spec("dev", "app").expression).toEqual({ form: "at", at: Date.UTC(2026, 11, 31, 14, 59) });
});

test.each<[string, Record<string, unknown>, string]>([
  [
    "six fields",
    { cron: "0 * * * * *", timezone: "UTC" },
    'has six fields: seconds are not supported; write "* * * * *"',
  ],
  ["a cron that never fires", { cron: "0 0 30 2 *", timezone: "UTC" }, "can never fire"],
  ["a minute 61", { cron: "61 * * * *", timezone: "UTC" }, 'schedule "s": cron "61 * * * *"'],
  ["an unknown zone", { cron: "* * * * *", timezone: "Asia/Soul" }, 'timezone "Asia/Soul" is not an IANA time zone'],
  ["a city alone", { cron: "* * * * *", timezone: "Seoul" }, "did you mean Asia/Seoul?"],
  [
    "an offset as a zone",
    { cron: "* * * * *", timezone: "+09:00" },
    'timezone "+09:00" is an offset, which has no clock changes: write an IANA name',
  ],
  ["no zone", { cron: "* * * * *" }, "timezone (missing) is required with cron"],
  ["twice a second", { every: "500ms" }, 'every "500ms" must be at least 1s'],
  ["a wrong rate in one stage", { every: { default: "1m", prod: "often" } }, 'every.prod "often" is not a duration'],
  ["two expressions", { every: "1m", at: "2026-01-01T00:00Z" }, "exactly one of them says when it fires"],
  [
    "an instant without an offset",
    { at: "2026-12-31T09:00:00" },
    'at "2026-12-31T09:00:00" is not an instant; write date, time and offset',
  ],
  ["an unknown policy", { every: "1m", overlap: "cancel" }, 'overlap "cancel" is not one of the choices'],
  [
    "to cancel what misfire runs",
    { every: "1m", overlap: "cancel-running", misfire: "all" },
    'overlap "cancel-running" would cancel each missed time for the next, and misfire `all` runs them all',
  ],
  ["an unknown launch", { every: "1m", launch: "lambda" }, 'launch "lambda" is not one of the choices'],
  ["a deadline of nothing", { every: "1m", startDeadline: "0s" }, 'startDeadline "0s" must be at least 1s'],
  ["a deadline in words", { every: "1m", startDeadline: "soon" }, 'startDeadline "soon" is not a duration'],
  ["a deadline of years", { every: "1m", startDeadline: "1000d" }, 'startDeadline "1000d" must be at most 366d'],
  [
    "a spread over the smallest gap",
    { cron: "0 3,21 * * *", timezone: "UTC", spread: "7h" },
    'spread "7h" is 7h, and the smallest gap between two of its times is 6h; use at most 6h',
  ],
  ["a spread over the period", { every: "10m", spread: "11m" }, "the smallest gap between two of its times is 10m"],
  [
    "a spread over the period of one stage",
    { every: { dev: "1h", prod: "5m" }, spread: "10m" },
    "the smallest gap between two of its times is 5m",
  ],
  ["a spread of a single time", { at: "2031-01-01T00:00:00Z", spread: "1m" }, 'spread "1m" goes with cron or every'],
  ["a spread of days", { cron: "0 3 * * *", timezone: "UTC", spread: "2d" }, 'spread "2d" must be at most 1d'],
  ["a pace in words", { every: "1m", misfire: { all: { pace: "slow" } } }, 'misfire.all.pace "slow" is not a duration'],
  [
    "a payload that does not fit",
    { every: "1m", run: greet, payload: { name: 7 } },
    'payload.name {"name":7} does not fit job "greet"',
  ],
  ["a missing payload", { every: "1m", run: greet }, 'payload (missing) does not fit job "greet"'],
  ["a payload for a job that takes none", { every: "1m", payload: 7 }, "this job takes no payload"],
  [
    "a payload that does not survive JSON",
    { every: "1m", run: at, payload: { at: new Date(0) } },
    'payload.at {"at":"1970-01-01T00:00:00.000Z"} does not fit job "at"',
  ],
  ["a payload JSON cannot say", { every: "1m", run: greet, payload: { name: 7n } }, "holds a bigint"],
])("%s is a problem that says so", (_, options, expected) => {
  const found = problemsOf(options);
  expect(found).toHaveLength(1);
  expect(found[0]).toContain(expected);
});

test("a schedule with problems has no spec", () => {
  const { spec } = defineSchedule({ id: "s", every: "1ms", run: job });
  expect(() => spec("dev", "app")).toThrow(
    '1 problem in the definitions and their settings:\n  - schedule "s": every "1ms"',
  );
});

test("a payload is a value or computed from its occurrence", () => {
  const occurrence: Occurrence = {
    scheduleId: "s",
    scheduledFor: new Date(0),
    timezone: "Asia/Seoul",
    day: "1970-01-01",
    isCatchUp: false,
    missedCount: 0,
  };
  const fixed = defineSchedule({ id: "s", every: "1m", run: greet, payload: { name: "you" } });
  const computed = defineSchedule({ id: "s", every: "1m", run: greet, payload: (o) => ({ name: o.day }) });
  expect([fixed.payload?.(occurrence), fixed.spec("dev", "app").payload]).toEqual([{ name: "you" }, { name: "you" }]);
  expect([computed.payload?.(occurrence), computed.spec("dev", "app").payload]).toEqual([{ name: "1970-01-01" }, null]);
});

const specOf = (options: object, stage = "dev") => schedule(options).spec(stage, "app");
const cron = { cron: "0 8 * * *", timezone: "Asia/Seoul" };

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
  const closed = { id: "closed", dates: ["2026-12-25"], weekdays: [], yearly: [] };
  test.each<[object, readonly string[]]>([
    [{ every: "1m", timezone: "Asia/Seoul" }, [`timezone "Asia/Seoul" ${why}; leave it out`]],
    [{ at, timezone: "Asia/Seoul" }, [`timezone "Asia/Seoul" ${why}; leave it out`]],
    [{ every: "1m", timezone: "UTC" }, []],
    [{ every: "1m", dst: {} }, [`dst {} ${why}; leave it out`]],
    [{ at, dst: { gap: "skip" } }, [`dst {"gap":"skip"} ${why}; leave it out`]],
    [{}, ["cron, every, at, after [] exactly one of them says when it fires; keep one of them"]],
    [
      {
        after: { schedule: "s", on: "never" },
        misfire: "all",
        except: { is: "calendar", problems: [], days: closed },
        onExcluded: "next",
      },
      [
        'after.schedule "s" is the schedule itself; name the schedule that it follows',
        'misfire "all" is that of the schedule it follows; leave it out',
        'after.within (missing) is required; say how long after its time it may be done, like "6h"',
        'after.on "never" is not one of the choices; use "success" or "end"',
        'onExcluded "next" moves a time, and those of a chain are another schedule\'s; leave it out',
      ],
    ],
    [{ after: { schedule: "other", within: "8d" } }, ['after.within "8d" must be at most 7d; use a shorter one']],
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
});
