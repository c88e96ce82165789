import { describe, expect, test } from "vitest";
import { explainTime } from "../../../src/core/admin/explain-schedule.ts";
import type { AskedTime } from "../../../src/core/calendar/asked-time.ts";
import type { ScheduleSpec } from "../../../src/core/ports/schedule.ts";
import { aRow, hour, midnight, minute } from "../../schedules/spec.ts";
import { asked, aPause, daily, factsOf, inputOf, intervalOf, nine } from "./facts.ts";

const day = 24 * hour;

const missing = (over: Parameters<typeof inputOf>[0]) => explainTime(inputOf({ occurrence: null, job: null, ...over }));

/** One instant, or with none a reading that the clock skips just before `near`. */
const at = (near: number, localTime = "2026-11-21T09:00", instants: readonly number[] = [near]): AskedTime => ({
  localTime,
  isInstant: instants.length > 0,
  instants,
  near,
});

describe("a time of the schedule without a row", () => {
  test.each([
    [nine - 1, nine - 1, "not-due"],
    [nine, nine - 1, "undecided"],
    [nine, nine, "not-in-force"],
    [nine + 1, nine + 1, "not-in-force"],
  ])("at %d, decided until %d, is %s", (now, decidedUntil, verdict) => {
    const row = aRow({ spec: daily(), decidedUntil });
    expect(missing({ facts: factsOf({ now, row }) }).verdict).toBe(verdict);
  });

  test("to come says what pauses it then, and how to resume it", () => {
    const say = (pause: typeof aPause | null) => {
      const row = aRow({ spec: daily(), pause });
      return missing({ facts: factsOf({ now: nine - 1, row }) });
    };
    const rest = "it is planned shortly before its time";
    expect(say(null)).toMatchObject({ sentence: `2026-11-21 09:00 has not come yet: ${rest}`, advice: null });
    expect(say(aPause)).toMatchObject({
      sentence: `2026-11-21 09:00 has not come yet, and the schedule is paused by ana: ${rest}`,
      advice: "resume it before then: npx belfry schedules resume s",
    });
  });

  test("of a schedule that was deleted since says when", () => {
    const interval = intervalOf(daily(), { until: nine + 5 });
    expect(missing({ facts: factsOf({ row: null }), interval }).sentence).toContain(
      "deleted at 2026-11-21T09:00:00.005Z",
    );
  });

  test.each([
    ["rule", 90_000, "its rule starts a task"],
    ["rule", 90_001, "no scheduler task has made a pass"],
    ["tick", 90_000, "no scheduler task has made a pass"],
    ["tick", 0, "no scheduler task has made a pass"],
  ] as const)("undecided, launched by %s, %d ms late: %s", (launch, lateMs, advice) => {
    const spec = daily({ launch });
    const row = aRow({ spec, decidedUntil: nine - minute });
    const said = missing({ facts: factsOf({ now: nine + lateMs, row }), interval: intervalOf(spec) });
    expect(said.sentence).toBe("2026-11-21 09:00 is past and undecided: the last decided time is 2026-11-21 08:59");
    expect(said.advice).toContain(advice);
  });
});

describe("a time in no version", () => {
  const spec = daily();
  const versions = [
    { version: 1, spec, fromAt: nine },
    { version: 2, spec: null, fromAt: nine + 100 },
    { version: 3, spec, fromAt: nine + 200 },
    { version: 4, spec: null, fromAt: nine + 300 },
  ];

  test.each([
    [nine - 1, "before-schedule", "it began at 2026-11-21T09:00:00.000Z"],
    [nine, "deleted", "deleted at 1970-01-01T00:00:00.000Z"],
    [nine + 100, "deleted", "deleted at 2026-11-21T09:00:00.100Z"],
    [nine + 250, "deleted", "deleted at 2026-11-21T09:00:00.100Z"],
    [nine + 300, "deleted", "deleted at 2026-11-21T09:00:00.300Z"],
  ])("near %d is %s: %s", (near, verdict, words) => {
    const said = missing({ facts: factsOf({ versions }), interval: null, asked: at(near) });
    expect(said.verdict).toBe(verdict);
    expect(said.sentence).toContain(words);
  });

  test("of no version at all is one of a deleted schedule", () => {
    expect(missing({ facts: factsOf({ versions: [] }), interval: null }).verdict).toBe("deleted");
  });

  test.each([
    [aRow({ id: "row" }), spec, "row"],
    [null, spec, "s"],
    [null, null, ""],
  ])("before it is advised by the id of the row, or else of its first version", (row, first, id) => {
    const facts = factsOf({ row, versions: [{ version: 1, spec: first, fromAt: nine }] });
    expect(missing({ facts, interval: null, asked: at(nine - 1) }).advice).toBe(
      `to run it all the same: npx belfry schedules backfill ${id} --from TIME --to TIME --force`,
    );
  });
});

describe("a time that is none of the schedule's", () => {
  const never = (spec: ScheduleSpec, when: AskedTime) => {
    const said = missing({ interval: intervalOf(spec), asked: when });
    return [said.verdict, said.sentence.replace(/^.* is no time of this schedule: /, ""), said.advice];
  };
  const once = daily({ expression: { form: "at", at: nine } });
  const runs = "it runs once, at 2026-11-21T09:00:00.000Z";
  const around = "the times around it are 2026-11-21 09:00:00";

  test.each([
    [-1, around],
    [1, around],
    [8 * day - 1, around],
    [8 * day, "it has no other times"],
    [8 * day + 1, "it has no other times"],
  ])("%d ms from its only one", (ms, advice) => {
    expect(never(once, at(nine + ms))).toEqual(["never-nominal", runs, advice]);
  });

  test("of one that runs every 30 days looks back as far as that", () => {
    const spec = daily({ expression: { form: "every", everyMs: 30 * day }, startAt: midnight });
    const [, when, advice] = never(spec, at(midnight + 20 * day));
    expect(when).toBe("it runs every 2592000 s");
    expect(advice).toMatch(/^the times around it are \S+ \S+ and \S+ \S+$/);
  });

  /** The clock of New York goes from 02:00 to 03:00 then. */
  const jump = Date.UTC(2026, 2, 8, 7);
  const newYork = (cron: string, over: Partial<ScheduleSpec> = {}): ScheduleSpec =>
    daily({ expression: { form: "cron", cron }, timezone: "America/New_York", ...over });

  test("a skipped reading is said to be one", () => {
    const said = never(
      newYork("30 2 * * *", { dst: { gap: "shift", overlap: "auto" } }),
      at(jump, "2026-03-08T02:45", []),
    );
    expect(said).toEqual([
      "never-nominal",
      "it runs `30 2 * * *` in America/New_York; the clock of America/New_York skips this reading",
      "the times around it are 2026-03-07 02:30 and 2026-03-08 02:30",
    ]);
  });

  test.each([
    ["30 2 * * *", "2026-03-08T02:45", "2026-03-08 02:30 and 2026-03-09 02:30"],
    ["30 2 * * *", "2026-03-08T02:15", "2026-03-07 02:30 and 2026-03-08 02:30"],
    ["*/20 2 * * *", "2026-03-08T02:30", "2026-03-08 02:20 and 2026-03-08 02:40"],
    ["0 3 * * *", "2026-03-08T02:30", "2026-03-07 03:00 and 2026-03-08 03:00"],
    ["0,30 2,3 * * *", "2026-03-08T02:15", "2026-03-08 02:00 and 2026-03-08 03:00"],
  ])("%s asked at the skipped %s names what fires at the jump: %s", (cron, text, around) => {
    expect(never(newYork(cron), at(jump, text, []))[2]).toBe(`the times around it are ${around}`);
  });

  test("in the second pass of an hour, what fired in the first is before it, though the clock showed more", () => {
    const second = Date.UTC(2026, 10, 1, 6, 15);
    const around = (overlap: "first" | "both") =>
      never(newYork("30 1 * * *", { dst: { gap: "auto", overlap } }), at(second, "2026-11-01T01:15"))[2];
    expect(around("first")).toBe("the times around it are 2026-11-01 01:30 and 2026-11-02 01:30");
    expect(around("both")).toBe("the times around it are 2026-11-01 01:30 and 2026-11-01 01:30");
  });

  test.each(["shift", "first-valid"] as const)(
    "a skipped reading that runs by the rule %s is one of its times",
    (gap) => {
      const spec = newYork("30 2 * * *", { dst: { gap, overlap: "auto" } });
      const facts = factsOf({ now: nine, row: aRow({ spec, decidedUntil: nine }) });
      const said = missing({ facts, interval: intervalOf(spec), asked: at(jump, "2026-03-08T02:30", []) });
      const instant = gap === "shift" ? "2026-03-08T07:30:00.000Z" : "2026-03-08T07:00:00.000Z";
      expect(said.verdict).toBe("not-in-force");
      expect(said.advice).toBe(`run it now: npx belfry schedules backfill s --from ${instant} --to ${instant}`);
    },
  );

  test("the first pass of a reading is not the second, which the schedule takes", () => {
    const first = Date.UTC(2026, 10, 1, 5, 30);
    const spec = newYork("30 1 * * *", { dst: { gap: "auto", overlap: "second" } });
    const when = at(first, "2026-11-01T01:30");
    expect(missing({ interval: intervalOf(spec), asked: when }).verdict).toBe("never-nominal");
    const second = missing({ interval: intervalOf(spec), asked: { ...when, instants: [first, first + hour] } });
    expect(second.verdict).toBe("not-in-force");
  });

  test("names the version only where there are several", () => {
    const version = { version: 1, spec: daily(), fromAt: 0 };
    const sentence = (versions: readonly (typeof version)[]): string =>
      missing({ facts: factsOf({ versions }), asked: { ...asked, instants: [nine + 1], near: nine + 1 } }).sentence;
    expect(sentence([version])).not.toContain("version");
    expect(sentence([version, { ...version, version: 2, fromAt: nine + day }])).toContain("(version 1, in force from");
  });
});
