import { expect, test } from "vitest";
import { applyPatch } from "../../src/api/patched-schedule.ts";
import type { ScheduleSpec } from "../../src/machine/schedule.ts";

const dst = { gap: "auto", overlap: "first" } as const;
const misfire = { rule: "latest", maxAgeMs: null, maxCount: null, paceMs: 1_000 } as const;
const nightly = {
  id: "nightly",
  expression: { form: "cron", cron: "0 2 * * *" },
  timezone: "Europe/Berlin",
  dst,
  misfire,
  overlap: "skip",
  startAt: null,
  endAt: null,
  enabled: true,
  payload: null,
  job: { kind: "report" },
} as unknown as ScheduleSpec;
const spec = (more: Partial<ScheduleSpec>): ScheduleSpec => ({ ...nightly, ...more });

const rest = { id: "nightly", kind: "report", misfire: "latest", overlap: "skip", enabled: true };
const whole = { ...rest, cron: "0 2 * * *", timezone: "Europe/Berlin", dst };
const at = Date.UTC(2026, 10, 21, 8);
const iso = "2026-11-21T08:00:00.000Z";
const every = spec({ expression: { form: "every", everyMs: 90_000 }, timezone: "UTC" });
const once = spec({ expression: { form: "at", at }, timezone: "UTC" });
const all = { rule: "all", maxAgeMs: null, maxCount: null, paceMs: 500 } as const;

test.each<[string, ScheduleSpec, object]>([
  ["a cron expression with its zone", nightly, whole],
  ["elapsed time, which has no zone", every, { ...rest, every: "90000ms" }],
  ["one instant, which has no zone", once, { ...rest, at: iso }],
  ["a deadline", spec({ startDeadlineMs: 5_000 }), { ...whole, startDeadline: "5000ms" }],
  ["a first instant", spec({ startAt: at }), { ...whole, startAt: iso }],
  ["a last instant", spec({ endAt: at }), { ...whole, endAt: iso }],
  ["a payload", spec({ payload: { a: 1 } }), { ...whole, payload: { a: 1 } }],
  ["a payload that is false", spec({ payload: false }), { ...whole, payload: false }],
  ["a schedule that is off", spec({ enabled: false }), { ...whole, enabled: false }],
  ["no missed times", spec({ misfire: { ...misfire, rule: "skip" } }), { ...whole, misfire: "skip" }],
  ["all missed times", spec({ misfire: all }), { ...whole, misfire: { all: { pace: "500ms" } } }],
  [
    "missed times of an age",
    spec({ misfire: { ...all, maxAgeMs: 60_000 } }),
    { ...whole, misfire: { all: { maxAge: "60000ms", pace: "500ms" } } },
  ],
  [
    "some missed times",
    spec({ misfire: { ...all, maxCount: 0 } }),
    { ...whole, misfire: { all: { maxCount: 0, pace: "500ms" } } },
  ],
])("%s is sent again as it is stored", (_what, stored, sent) => {
  expect(applyPatch(stored, {})).toStrictEqual(sent);
});

const tokyo = { timezone: "Asia/Tokyo", dst: { gap: "skip" } };

test.each<[string, ScheduleSpec, Readonly<Record<string, unknown>>, object]>([
  ["a setting that is given", nightly, { overlap: "allow" }, { ...whole, overlap: "allow" }],
  ["a setting that it did not have", nightly, { endAt: iso }, { ...whole, endAt: iso }],
  ["a setting that is undefined, which is not given", nightly, { overlap: undefined, cron: undefined }, whole],
  ["its zone", nightly, { timezone: "Asia/Tokyo" }, { ...whole, timezone: "Asia/Tokyo" }],
  ["another expression, in its zone", nightly, { cron: "0 3 * * *" }, { ...whole, cron: "0 3 * * *" }],
  ["another expression and zone", nightly, { cron: "0 3 * * *", ...tokyo }, { ...whole, cron: "0 3 * * *", ...tokyo }],
  ["elapsed time, without its zone", nightly, { every: "1h" }, { ...rest, every: "1h" }],
  ["an instant, without its zone", nightly, { at: iso }, { ...rest, at: iso }],
  ["elapsed time with a zone, to be refused", nightly, { every: "1h", ...tokyo }, { ...rest, every: "1h", ...tokyo }],
  ["an instant with a zone, to be refused", nightly, { at: iso, ...tokyo }, { ...rest, at: iso, ...tokyo }],
  ["a cron expression in place of elapsed time", every, { cron: "0 3 * * *" }, { ...rest, cron: "0 3 * * *" }],
  ["an instant in place of elapsed time", every, { at: iso }, { ...rest, at: iso }],
  ["elapsed time in place of an instant", once, { every: "1h" }, { ...rest, every: "1h" }],
  ["two that say when, to be refused", every, { cron: "* * * * *", at: iso }, { ...rest, cron: "* * * * *", at: iso }],
])("%s", (_what, stored, settings, sent) => {
  expect(applyPatch(stored, settings)).toStrictEqual(sent);
});

test("another kind needs a payload of its own, where there is one: it would be shown by marks that it was not written under", () => {
  const paid = spec({ payload: { card: "1234" } });
  for (const settings of [{ kind: "loose" }, { kind: "loose", payload: undefined, enabled: false }]) {
    expect(() => applyPatch(paid, settings)).toThrow(
      expect.objectContaining({
        status: 422,
        code: "invalid-schedule",
        issues: [{ path: "payload", message: expect.stringContaining('the stored one was written for "report"') }],
      }),
    );
  }
  expect(applyPatch(paid, { kind: "loose", payload: null })).toMatchObject({ kind: "loose", payload: null });
  expect(applyPatch(paid, { kind: "report" })).toMatchObject({ payload: { card: "1234" } });
  expect(applyPatch(nightly, { kind: "loose" })).not.toHaveProperty("payload");
});
