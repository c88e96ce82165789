import { expect, test } from "vitest";
import { parseCron } from "../../src/core/calendar/cron.ts";
import { ruleOf, ruleProblem } from "../../src/core/calendar/rule.ts";
import { timetable, type FirePattern } from "../../src/core/calendar/timetable.ts";
import { aSpec } from "../schedules/spec.ts";

const minute = 60_000;
const day = 24 * 60;
const when = (over: Partial<FirePattern>): FirePattern => ({
  expression: { form: "every", everyMs: minute },
  timezone: "UTC",
  dst: { gap: "auto", overlap: "auto" },
  startAt: null,
  endAt: null,
  ...over,
});

/** The minutes of a day, from 0, at which a rule of AWS wakes. */
function wakes(rule: string): number[] {
  const parsed = parseCron(rule);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.cron.hours.flatMap((hour) => parsed.cron.minutes.map((at) => hour * 60 + at));
}

/** The longest step that divides the day and the period, found by trying each. */
function stepOf(every: number): number {
  for (let step = every; step > 1; step -= 1) if (every % step === 0 && day % step === 0) return step;
  return 1;
}

test("a period wakes at every hour and minute of the longest step that meets all its times, and at no other", () => {
  for (const every of [1, 2, 7, 8, 15, 45, 60, 61, 90, 100, 180, 420, 720, 1_000, 1_440, 2_880, 10_080])
    for (const start of [null, 0, 1, 59, 61, 1_439, 1_441]) {
      const expression = { form: "every", everyMs: every * minute } as const;
      const rule = ruleOf(when({ expression, startAt: start === null ? null : start * minute }));
      const times = Array.from({ length: day }, (_, at) => at).filter(
        (at) => (at - (start ?? 0)) % stepOf(every) === 0,
      );
      const [minutes, hours] = [new Set(times.map((at) => at % 60)), new Set(times.map((at) => Math.floor(at / 60)))];
      const expected = [...hours].flatMap((hour) => [...minutes].map((at) => hour * 60 + at));
      expect([every, start, ...wakes(rule)]).toEqual([every, start, ...expected.toSorted((a, b) => a - b)]);
    }
});

test("a period or a start between two minutes wakes at the next one", () => {
  expect(ruleOf(when({ expression: { form: "every", everyMs: 90_000 } }))).toBe("cron(* * * * ? *)");
  expect(ruleOf(when({ expression: { form: "every", everyMs: 60 * minute }, startAt: 1 }))).toBe("cron(1 * * * ? *)");
  const at = Date.UTC(2026, 11, 31, 8, 5);
  for (const [later, shown] of [
    [-1, 5],
    [0, 5],
    [1, 6],
  ] as const)
    expect(ruleOf(when({ expression: { form: "at", at: at + later } }))).toBe(`cron(${shown} 8 31 12 ? 2026)`);
});

test("AWS's own form in another zone becomes UTC, and an expression that cannot be read is refused", () => {
  const cron = (text: string, timezone: string) => when({ expression: { form: "cron", cron: text }, timezone });
  expect(ruleOf(cron("cron(0 8 ? * MON *)", "Asia/Seoul"))).toBe("cron(0 23 * * ? *)");
  expect(() => ruleOf(cron("61 * * * *", "UTC"))).toThrow(RangeError);
  expect(() => timetable(cron("61 * * * *", "UTC"))).toThrow(RangeError);
});

test("what a rule cannot follow, at its bounds", () => {
  const field = (over: Parameters<typeof aSpec>[0]) => ruleProblem(aSpec(over))?.field ?? null;
  expect(field({ expression: { form: "every", everyMs: minute - 1 } })).toBe("every");
  expect(field({ expression: { form: "every", everyMs: minute } })).toBeNull();
  expect(field({ expression: { form: "at", at: 1 } })).toBeNull();
  expect(field({ startDeadlineMs: 119_999 })).toBe("startDeadline");
  expect(field({ startDeadlineMs: 120_000 })).toBeNull();
});
