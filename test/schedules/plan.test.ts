import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TimeDecision } from "../../src/core/scheduler/catch-up.ts";
import { planSchedule } from "../../src/core/scheduler/plan.ts";
import type { Misfire } from "../../src/core/ports/schedule.ts";
import { aRow, aSpec, expectedDecisions, hour, latest, midnight, minute, planAll } from "./spec.ts";

const dispatchWindowMs = 5 * minute;
const options = (now: number) => ({ now, dispatchWindowMs, timesMax: 1_000 });

const brief = (decisions: readonly TimeDecision[]) =>
  decisions.map(({ time, outcome, reason, isCatchUp, missedCount }) =>
    [(time.instant - midnight) / minute, isCatchUp ? "CATCH_UP" : outcome, reason, missedCount]
      .filter((part) => part !== null && part !== 0)
      .join(" "),
  );

describe("a healthy schedule", () => {
  test("is planned up to the dispatch window, each job due at its nominal time", () => {
    const plan = planSchedule(aRow(), options(midnight + 90_000));
    expect(brief(plan.decisions)).toEqual([
      "1 PLANNED",
      "2 PLANNED",
      "3 PLANNED",
      "4 PLANNED",
      "5 PLANNED",
      "6 PLANNED",
    ]);
    expect(plan.decisions.map((each) => each.dueAt)).toEqual(plan.decisions.map((each) => each.time.instant));
    expect(plan).toMatchObject({
      decidedUntil: midnight + 90_000 + dispatchWindowMs,
      nextAt: midnight + 7 * minute,
      carry: null,
      missed: 0,
      isComplete: true,
    });
  });

  test("is planned once: the same instant again decides nothing", () => {
    const first = planSchedule(aRow(), options(midnight + minute));
    const again = planSchedule(aRow({ decidedUntil: first.decidedUntil }), options(midnight + minute));
    expect(again).toMatchObject({ decisions: [], decidedUntil: first.decidedUntil, nextAt: first.nextAt });
  });

  test("a clock that stepped back decides nothing and takes nothing back", () => {
    const decidedUntil = midnight + hour;
    expect(planSchedule(aRow({ decidedUntil }), options(midnight))).toMatchObject({ decisions: [], decidedUntil });
  });

  test("a time that is up to two minutes late fires late", () => {
    const plan = planSchedule(aRow({ spec: aSpec({ misfire: { ...latest, rule: "skip" } }) }), {
      ...options(midnight + 3 * minute),
      dispatchWindowMs: 0,
    });
    expect(brief(plan.decisions)).toEqual(["1 PLANNED", "2 PLANNED", "3 PLANNED"]);
  });

  test("what is materialised ahead is due before its nominal time, and planned that much earlier", () => {
    const spec = aSpec({ expression: { form: "cron", cron: "0 8 * * *" }, materializeBeforeMs: 10 * minute });
    const eight = midnight + 8 * hour;
    const early = planSchedule(aRow({ spec }), options(eight - 15 * minute - 1));
    expect(early).toMatchObject({ decisions: [], nextAt: eight - 10 * minute });
    const plan = planSchedule(aRow({ spec }), options(eight - 15 * minute));
    expect(plan.decisions).toMatchObject([{ time: { instant: eight }, dueAt: eight - 10 * minute, isCatchUp: false }]);
  });

  test("start and end bound it: a time at startAt counts, one at endAt does not", () => {
    const spec = aSpec({ startAt: midnight + 30_000, endAt: midnight + 30_000 + 3 * minute });
    const plan = planSchedule(aRow({ spec }), options(midnight));
    expect(plan.decisions.map((each) => each.time.instant - midnight)).toEqual([30_000, 90_000, 150_000]);
    expect(plan.nextAt).toBeNull();
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

describe("after an outage of ten minutes", () => {
  const after = (misfire: Partial<Misfire>) =>
    planSchedule(aRow({ spec: aSpec({ misfire: { ...latest, ...misfire } }) }), {
      ...options(midnight + 10 * minute + 5_000),
      dispatchWindowMs: minute,
    });

  test("skip leaves out what is later than two minutes, and tells the next job how many", () => {
    expect(brief(after({ rule: "skip" }).decisions)).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((k) => `${k} SKIPPED misfire`),
      "9 PLANNED 8",
      "10 PLANNED",
      "11 PLANNED",
    ]);
  });

  test("latest gives one job for all of them", () => {
    const coalesced = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((k) => `${k} COALESCED into 2026-11-21T00:10:00`);
    const plan = after({ rule: "latest" });
    expect(brief(plan.decisions)).toEqual([...coalesced, "10 CATCH_UP 9", "11 PLANNED"]);
    expect(plan.missed).toBe(10);
  });

  test("latest with an age gives none when even the newest is too old", () => {
    const row = aRow({
      spec: aSpec({ expression: { form: "every", everyMs: hour }, misfire: { ...latest, maxAgeMs: 5 * minute } }),
    });
    const plan = planSchedule(row, options(midnight + 2 * hour + 10 * minute));
    expect(brief(plan.decisions)).toEqual(["60 SKIPPED misfire", "120 SKIPPED misfire"]);
    expect(plan.carry).toEqual({ missed: 2, missedUntil: null, catchUpUntil: null });
  });

  test("latest with an age still takes a time that is exactly that old", () => {
    const row = aRow({
      spec: aSpec({ expression: { form: "every", everyMs: hour }, misfire: { ...latest, maxAgeMs: 10 * minute } }),
    });
    const plan = planSchedule(row, options(midnight + 2 * hour + 10 * minute));
    expect(brief(plan.decisions)).toEqual(["60 COALESCED into 2026-11-21T02:00:00", "120 CATCH_UP 1"]);
  });

  test("all gives one job each, paced by due times after now", () => {
    const plan = after({ rule: "all", paceMs: 30_000 });
    expect(brief(plan.decisions).slice(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((k) => `${k} CATCH_UP`));
    const now = midnight + 10 * minute + 5_000;
    expect(plan.decisions.slice(0, 10).map((each) => (each.dueAt ?? 0) - now)).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((k) => k * 30_000),
    );
    expect(plan.carry).toEqual({ missed: 0, missedUntil: null, catchUpUntil: now + 300_000 });
  });

  test("all with a count keeps the newest and tells the first of them how many were left out", () => {
    expect(brief(after({ rule: "all", maxCount: 3 }).decisions).slice(6)).toEqual([
      "7 SKIPPED misfire",
      "8 CATCH_UP 7",
      "9 CATCH_UP",
      "10 CATCH_UP",
      "11 PLANNED",
    ]);
  });

  test("all with an age leaves out what is older", () => {
    expect(brief(after({ rule: "all", maxAgeMs: 4 * minute }).decisions).slice(5)).toEqual([
      "6 SKIPPED misfire",
      "7 CATCH_UP 6",
      "8 CATCH_UP",
      "9 CATCH_UP",
      "10 CATCH_UP",
      "11 PLANNED",
    ]);
  });

  test("a second outage goes on after the last caught-up job of the first: the pace holds across both", () => {
    const spec = aSpec({ misfire: { ...latest, rule: "all", paceMs: hour } });
    const first = planAll(aRow({ spec }), { now: midnight + 10 * minute, dispatchWindowMs: 0, timesMax: 1_000 });
    const second = planAll(first.row, { now: midnight + 20 * minute, dispatchWindowMs: 0, timesMax: 1_000 });
    const due = [...first.decisions, ...second.decisions].map((each) => each.dueAt ?? 0);
    expect(due.slice(1).every((each, k) => each - (due[k] ?? 0) >= hour)).toBe(true);
    expect(due).toHaveLength(20);
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
}, 60_000);

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
