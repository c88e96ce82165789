import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planSchedule } from "../../src/schedule/plan.ts";
import type { Misfire } from "../../src/machine/schedule.ts";
import { aRow, aSpec, expectedDecisions, hour, midnight, minute, planAll } from "./spec.ts";

const dispatchWindowMs = 5 * minute;
const options = (now: number) => ({ now, dispatchWindowMs, timesMax: 1_000 });

describe("a healthy schedule", () => {
  test("a clock that stepped back decides nothing and takes nothing back", () => {
    const decidedUntil = midnight + hour;
    expect(planSchedule(aRow({ decidedUntil }), options(midnight))).toMatchObject({ decisions: [], decidedUntil });
  });

  test("what is materialised ahead is due before its nominal time, and planned that much earlier", () => {
    const spec = aSpec({ expression: { form: "cron", cron: "0 8 * * *" }, materializeBeforeMs: 10 * minute });
    const eight = midnight + 8 * hour;
    const early = planSchedule(aRow({ spec }), options(eight - 15 * minute - 1));
    expect(early).toMatchObject({ decisions: [], nextAt: eight - 10 * minute });
    const plan = planSchedule(aRow({ spec }), options(eight - 15 * minute));
    expect(plan.decisions).toMatchObject([{ time: { instant: eight }, dueAt: eight - 10 * minute, isCatchUp: false }]);
  });

  test("one that has ended has no next time", () => {
    const spec = aSpec({ expression: { form: "at", at: midnight + minute } });
    expect(planSchedule(aRow({ spec }), options(midnight))).toMatchObject({
      decisions: [{ outcome: "PLANNED" }],
      nextAt: null,
    });
    const decided = aSpec({ expression: { form: "at", at: midnight } });
    expect(planSchedule(aRow({ spec: decided }), options(midnight + minute))).toMatchObject({
      decisions: [],
      nextAt: null,
    });
    const over = aSpec({ expression: { form: "cron", cron: "cron(0 0 1 1 ? 2002-2005)" } });
    expect(planSchedule(aRow({ spec: over }), options(midnight))).toMatchObject({ decisions: [], nextAt: null });
  });
});

const misfire: fc.Arbitrary<Misfire> = fc.record({
  rule: fc.constantFrom("skip" as const, "latest" as const, "all" as const),
  maxAgeMs: fc.option(fc.integer({ min: 1, max: 600 }).map((n) => n * minute)),
  maxCount: fc.option(fc.integer({ min: 1, max: 200 })),
  paceMs: fc.integer({ min: 1, max: 60_000 }),
});
const expression = fc.oneof(
  fc.integer({ min: 61, max: 8_000 }).map((seconds) => ({ form: "every" as const, everyMs: seconds * 1_000 })),
  fc
    .constantFrom("* * * * *", "*/7 * * * *", "30 2 * * *", "15,45 0-3 * * *", "0 */3 * * *", "5 1 * * 0,1")
    .map((cron) => ({ form: "cron" as const, cron })),
);
const dst = fc.record({
  gap: fc.constantFrom("auto" as const, "skip" as const, "shift" as const, "first-valid" as const),
  overlap: fc.constantFrom("auto" as const, "first" as const, "second" as const, "both" as const),
});
/** Two days before a gap, and before an overlap, of New York. */
const start = fc.constantFrom(Date.UTC(2026, 2, 6, 12), Date.UTC(2026, 9, 30, 12), midnight);
/** Minutes from one tick to the next: mostly a beat, sometimes an outage of up to three days. */
const pauses = fc.array(
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(0, 1, 1, 2, 5) }, fc.integer({ min: 3, max: 4_320 })),
  { minLength: 1, maxLength: 6 },
);

test("whatever the pages, ticks and outages: the rows are the expected ones exactly, each decided as one plain sweep would", () => {
  fc.assert(
    fc.property(
      fc.record({
        expression,
        dst,
        misfire,
        start,
        pauses,
        timesMax: fc.integer({ min: 3, max: 200 }),
        materialize: fc.constantFrom(0, 10 * minute),
      }),
      (given) => {
        const spec = aSpec({
          ...given,
          timezone: given.expression.form === "cron" ? "America/New_York" : "UTC",
          materializeBeforeMs: given.materialize,
        });
        let row = aRow({ spec, decidedUntil: given.start });
        let now = given.start;
        for (const pause of given.pauses) {
          now += pause * minute + 1_234;
          const want = expectedDecisions(row, now, dispatchWindowMs);
          const got = planAll(row, { now, dispatchWindowMs, timesMax: given.timesMax });
          expect(got.decisions).toEqual(want);
          row = got.row;
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a day of six outages, minutely, in pages of 50: every page is bounded", () => {
  const row = aRow();
  let at = row;
  for (let k = 1; k <= 6; k++) {
    const {
      row: next,
      pages,
      decisions,
    } = planAll(at, { now: midnight + k * 4 * hour, dispatchWindowMs, timesMax: 50 });
    expect(pages).toBeLessThanOrEqual(Math.ceil(decisions.length / 50) + 1);
    at = next;
  }
});

test("a spread time is planned when it is due and missed two minutes after that, by each rule", () => {
  const spec = aSpec({
    expression: { form: "every", everyMs: hour },
    spread: { withinMs: hour, offsetMs: 20 * minute },
  });
  const at = (minutes: number, rule: "skip" | "latest" = "latest") => {
    const row = aRow({ spec: { ...spec, misfire: { ...spec.misfire, rule } } });
    const options = { now: midnight + minutes * minute, dispatchWindowMs: 0, timesMax: 10 };
    const { decisions, missed, nextAt } = planSchedule(row, options);
    const due = decisions.map(({ outcome, dueAt }) => [outcome, dueAt === null ? null : (dueAt - midnight) / minute]);
    return { due, missed, next: ((nextAt ?? 0) - midnight) / minute };
  };
  expect(at(79)).toEqual({ due: [], missed: 0, next: 80 });
  expect(at(82)).toEqual({ due: [["PLANNED", 80]], missed: 0, next: 140 });
  expect(at(83)).toEqual({ due: [["PLANNED", 83]], missed: 1, next: 140 });
  expect(at(83, "skip")).toEqual({ due: [["SKIPPED", null]], missed: 1, next: 140 });
  expect(at(143)).toEqual({
    due: [
      ["COALESCED", null],
      ["PLANNED", 143],
    ],
    missed: 2,
    next: 200,
  });
});
