import { expect, test } from "vitest";
import type { ScheduleSpec } from "../../src/machine/schedule.ts";
import { isWithdrawn } from "../../src/schedule/prematerialized.ts";
import { aSpec, hour, midnight, minute } from "./spec.ts";

const quiz = aSpec({ expression: { form: "cron", cron: "0 8 * * *" }, materializeBeforeMs: 10 * minute });
const nominalAt = midnight + 8 * hour;
const becomes = (next: Partial<ScheduleSpec>) => isWithdrawn({ spec: quiz, nominalAt }, { ...quiz, ...next });

test("what a fan-out wrote ahead is taken back by an edit after which it would not be written, or be written otherwise", () => {
  expect(becomes({ expression: { form: "cron", cron: "0 9 * * *" } })).toBe(true);
  expect(becomes({ timezone: "Asia/Seoul" })).toBe(true);
  expect(becomes({ timezone: "Europe/London" })).toBe(true);
  expect(becomes({ endAt: nominalAt })).toBe(true);
  expect(becomes({ startAt: nominalAt + 1 })).toBe(true);
  expect(becomes({ enabled: false })).toBe(true);
  expect(becomes({ payload: { quiz: 2 } })).toBe(true);
  expect(becomes({ job: { ...quiz.job, kind: "other" } })).toBe(true);
  expect(isWithdrawn({ spec: quiz, nominalAt }, null)).toBe(true);
});

test("it stays when the same would be written once more", () => {
  expect(becomes({})).toBe(false);
  expect(becomes({ expression: { form: "cron", cron: "0 8,20 * * *" } })).toBe(false);
  expect(becomes({ overlap: "skip", misfire: { ...quiz.misfire, rule: "skip" } })).toBe(false);
  expect(becomes({ materializeBeforeMs: 20 * minute })).toBe(false);
  expect(becomes({ expression: { form: "every", everyMs: 1 } })).toBe(false);
});
