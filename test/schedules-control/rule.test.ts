import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CronRule, parseCron } from "../../src/calendar/cron.ts";
import { ruleOf, ruleProblem } from "../../src/calendar/rule.ts";
import { timetable, type FirePattern } from "../../src/calendar/timetable.ts";
import { aSpec } from "../schedules/spec.ts";
import { midnight, minute } from "./stage.ts";

const auto = { gap: "auto", overlap: "auto" } as const;
const when = (over: Partial<FirePattern>): FirePattern => ({
  expression: { form: "every", everyMs: minute },
  timezone: "UTC",
  dst: auto,
  startAt: null,
  endAt: null,
  ...over,
});
const cron = (text: string, timezone = "UTC") => when({ expression: { form: "cron", cron: text }, timezone });
const every = (minutes: number, startAt: number | null = null) =>
  when({ expression: { form: "every", everyMs: minutes * minute }, startAt });

const isWake = ({ minutes, hours }: CronRule, instant: number): boolean => {
  const at = new Date(instant);
  return minutes.includes(at.getUTCMinutes()) && hours.includes(at.getUTCHours());
};

test.each<[string, FirePattern, string]>([
  ["each minute", every(1), "cron(* * * * ? *)"],
  ["every 15 minutes, on the quarter", every(15), "cron(0,15,30,45 * * * ? *)"],
  ["every 6 hours", every(360), "cron(0 0,6,12,18 * * ? *)"],
  ["a period that divides no day wakes at one that meets all its times", every(7), "cron(* * * * ? *)"],
  ["90 minutes divide a day and not an hour", every(90), "cron(0,30 0,1,3,4,6,7,9,10,12,13,15,16,18,19,21,22 * * ? *)"],
  ["counted from startAt", every(60, midnight + 20 * minute), "cron(20 * * * ? *)"],
  ["once", when({ expression: { form: "at", at: Date.UTC(2026, 11, 31, 8, 5) } }), "cron(5 8 31 12 ? 2026)"],
  ["a fixed time in UTC, on every day", cron("30 2 1 * *"), "cron(30 2 * * ? *)"],
  ["a zone without clock changes", cron("0 8 * * *", "Asia/Seoul"), "cron(0 23 * * ? *)"],
  ["a zone with two offsets has both hours", cron("0 8 * * *", "America/New_York"), "cron(0 12,13 * * ? *)"],
  ["AWS's own form in UTC as it is", cron("cron(0 8 ? * MON-FRI *)"), "cron(0 8 ? * MON-FRI *)"],
  [
    "not where a calendar moves its times to other days",
    { ...cron("cron(0 8 ? * MON-FRI *)"), calendars: { except: [], only: null, onExcluded: "next" } },
    "cron(0 8 * * ? *)",
  ],
])("%s", (_, given, expected) => {
  expect(ruleOf(given)).toBe(expected);
});

test("a rule wakes at most once a minute", () => {
  const tooOften = { field: "every", value: "15000ms", why: "a rule wakes at most once a minute" };
  expect(ruleProblem(aSpec())).toBeNull();
  expect(ruleProblem(aSpec({ expression: { form: "every", everyMs: 15_000 } }))).toEqual(tooOften);
  expect(ruleProblem(aSpec({ startDeadlineMs: 2 * minute }))).toBeNull();
  expect(ruleProblem(aSpec({ startDeadlineMs: minute }))).toMatchObject({ field: "startDeadline", value: "1m" });
});

describe("there is a wake for every time", () => {
  const zones = ["UTC", "Asia/Seoul", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca"];
  const text = fc
    .tuple(
      fc.constantFrom("*", "*/7", "0", "30", "5-59/20"),
      fc.constantFrom("*", "*/5", "2", "23", "22-2"),
      fc.constantFrom("* * *", "1 * *", "* * MON"),
    )
    .map((fields) => fields.join(" "));

  test("that no gap moved, whatever the expression and zone", () => {
    let seen = 0;
    const check = fc.property(
      text,
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 700 }),
      (cronText, zone, day) => {
        const parsed = parseCron(ruleOf(cron(cronText, zone)));
        if (!parsed.ok) throw new Error(parsed.problem);
        const from = midnight + day * 24 * 60 * minute;
        const given = { ...cron(cronText, zone), dst: { gap: "skip", overlap: "both" } as const };
        const fires = [...timetable(given).times(from, from + 3 * 24 * 60 * minute)].filter(
          ({ kind }) => kind === "fires",
        );
        expect(fires.filter(({ instant }) => !isWake(parsed.cron, instant))).toEqual([]);
        seen += fires.length;
      },
    );
    fc.assert(check, { numRuns: 200 });
    expect(seen).toBeGreaterThan(1_000);
  });

  test("of a period, wherever it is counted from", () => {
    const check = fc.property(
      fc.integer({ min: 1, max: 3_000 }),
      fc.integer({ min: 0, max: 5_000 }),
      (minutes, start) => {
        const given = every(minutes, midnight + start * minute);
        const parsed = parseCron(ruleOf(given));
        if (!parsed.ok) throw new Error(parsed.problem);
        const from = midnight + 4 * 24 * 60 * minute;
        const times = [...timetable(given).times(from, from + 5 * 24 * 60 * minute)];
        expect(times.filter(({ instant }) => !isWake(parsed.cron, instant))).toEqual([]);
      },
    );
    fc.assert(check, { numRuns: 200 });
  });
});
