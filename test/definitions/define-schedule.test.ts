import { expect, test } from "vitest";
import { z } from "zod";
import { defineJob } from "../../src/core/define/define-job.ts";
import { defineSchedule, type ScheduleOptions } from "../../src/core/define/define-schedule.ts";
import type { Occurrence } from "../../src/core/define/definition.ts";
import { describe as line } from "../../src/core/define/problem.ts";

const job = defineJob({ id: "job", lock: {}, concurrency: 3, run: () => {} });
const greet = defineJob({ id: "greet", payload: z.object({ name: z.string() }), key: (p) => p.name, run: () => {} });

const at = defineJob({ id: "at", payload: z.object({ at: z.date() }), run: () => {} });

const problemsOf = (options: Record<string, unknown>): readonly string[] =>
  (defineSchedule({ id: "s", run: job, ...options } as ScheduleOptions<void>).problems ?? []).map(line);

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

test("misfire all carries its bounds, paced a second apart unless said otherwise", () => {
  const misfire = (value: ScheduleOptions<void>["misfire"] & object) =>
    defineSchedule({ id: "s", every: "1m", run: job, misfire: value }).spec("dev", "app").misfire;
  expect(misfire({ all: {} })).toEqual({ rule: "all", maxAgeMs: null, maxCount: null, paceMs: 1_000 });
  expect(misfire({ all: { maxAge: "6h", maxCount: 10, pace: "2s" } })).toEqual({
    rule: "all",
    maxAgeMs: 21_600_000,
    maxCount: 10,
    paceMs: 2_000,
  });
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
  ["a 13th month", { at: "2026-13-01T09:00:00Z" }, "is not an instant"],
  [
    "an end before its start",
    { every: "1m", startAt: "2026-02-01T00:00Z", endAt: "2026-01-01T00:00Z" },
    "must be after startAt",
  ],
  ["an unknown policy", { every: "1m", overlap: "cancel" }, 'overlap "cancel" is not one of the choices'],
  ["a deadline of nothing", { every: "1m", startDeadline: "0s" }, 'startDeadline "0s" must be at least 1s'],
  ["a deadline in words", { every: "1m", startDeadline: "soon" }, 'startDeadline "soon" is not a duration'],
  ["a deadline of years", { every: "1m", startDeadline: "1000d" }, 'startDeadline "1000d" must be at most 366d'],
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
  [
    "a payload whose key is too long",
    { every: "1m", run: greet, payload: { name: "n".repeat(513) } },
    "must be 1 to 512 characters, it has 513",
  ],
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
  expect([fixed.payload(occurrence), fixed.spec("dev", "app").payload]).toEqual([{ name: "you" }, { name: "you" }]);
  expect([computed.payload(occurrence), computed.spec("dev", "app").payload]).toEqual([{ name: "1970-01-01" }, null]);
});
