import { describe, expect, test } from "vitest";
import { defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { registry } from "../../src/core/define/definition.ts";
import { noAftermath } from "../../src/core/ports/aftermath.ts";
import { scheduleLimits } from "../../src/core/ports/schedule-limits.ts";
import type { PlannedSchedule, ScheduleRow } from "../../src/core/ports/schedule.ts";
import type { ScheduleFacts } from "../../src/core/ports/schedule-store.ts";
import { passLimits } from "../../src/core/scheduler/pass-limits.ts";
import { tick } from "../../src/core/scheduler/tick.ts";
import { type LogLine, recordingLog, recordingMetrics } from "../../src/testing/recording.ts";
import { referenceStore } from "../support/reference-store.ts";
import { virtualTime } from "../support/virtual-clock.ts";
import { aRow, aSpec, hour, midnight, minute } from "./spec.ts";

const work = defineJob({ id: "work", run: () => {} });
const now = midnight + hour;
const windowMs = 5 * minute;

interface Given {
  /** What is due, in this order, in each round: nothing that is written changes it. */
  readonly due: readonly ScheduleRow[];
  /** What the store says that it wrote, each time. */
  readonly occurrences?: number;
  readonly facts?: () => Promise<ScheduleFacts | null>;
}

/** One tick over a store that only counts. */
async function ticked({ due, occurrences = 0, facts = async () => null }: Given) {
  const limits: number[] = [];
  const written: (readonly PlannedSchedule[])[] = [];
  const lines: LogLine[] = [];
  const store = Object.assign(
    referenceStore(() => now),
    {
      dueSchedules: async ({ limit }: { limit: number }) => (limits.push(limit), { now, schedules: due }),
      plan: async (plans: readonly PlannedSchedule[]) => (
        written.push(plans),
        { occurrences, passed: [], aftermath: noAftermath }
      ),
      scheduleFacts: facts,
    },
  );
  const definitions = registry([defineApp({ name: "test", jobs: [work], schedules: [] })]);
  const ports = {
    store,
    queue: { send: async () => ({ failed: [] }), depth: async () => ({ visible: 0, inFlight: 0, delayed: 0 }) },
    clock: virtualTime().clock,
    random: { next: () => 0.5, id: () => "id" },
    log: recordingLog(lines),
    metrics: recordingMetrics([]),
    crashPoint: async () => {},
  };
  const counts = await tick(ports, definitions, { stage: "test" });
  return { counts, limits, written, lines };
}

const idsOf = (written: readonly (readonly PlannedSchedule[])[]) =>
  written.map((plans) => plans.map((plan) => plan.scheduleId));
const every = (everyMs: number) => aSpec({ expression: { form: "every", everyMs } });
/** A schedule with this many times to decide, all within the dispatch window. */
const dueRow = (id: string, times: number, everyMs = 100): ScheduleRow =>
  aRow({ id, spec: every(everyMs), decidedUntil: now + windowMs - times * everyMs });
/** More times than a page holds. */
const endless = (id: string): ScheduleRow => dueRow(id, passLimits.tickTimesPerScheduleMax + 1);

describe("the rounds of a tick", () => {
  test("end when a round was not full and left nothing", async () => {
    const { limits, counts } = await ticked({ due: [dueRow("a", 3)], occurrences: 3 });
    expect(limits).toEqual([passLimits.tickSchedulesMax]);
    expect(counts).toMatchObject({ schedules: 1, occurrences: 3 });
  });

  test("go on while one schedule of a round has more times, or the round was full, to their limit", async () => {
    const more = await ticked({ due: [dueRow("a", 3), endless("b")], occurrences: 1 });
    expect(more.limits).toHaveLength(passLimits.tickRoundsMax);
    expect(more.limits).toHaveLength(10);
    const due = Array.from({ length: passLimits.tickSchedulesMax }, (_, n) => dueRow(`a${n}`, 1));
    expect((await ticked({ due })).limits).toHaveLength(10);
    expect((await ticked({ due: due.slice(1) })).limits).toHaveLength(1);
  });

  test("end with the round that reaches the limit of rows, and so does the writing within it", async () => {
    const quarter = passLimits.tickRowsMax / 4;
    const due = [endless("a")];
    expect((await ticked({ due, occurrences: quarter })).limits).toHaveLength(4);
    expect((await ticked({ due, occurrences: quarter - 1 })).limits).toHaveLength(5);
    const two = [dueRow("a", 1_000), dueRow("b", 1_000)];
    expect(idsOf((await ticked({ due: two, occurrences: passLimits.tickRowsMax })).written)).toEqual([["a"]]);
    expect(idsOf((await ticked({ due: two, occurrences: 1 })).written.slice(0, 2))).toEqual([["a"], ["b"]]);
  });
});

describe("what a round writes", () => {
  test("is up to a thousand rows a statement, or one schedule with more", async () => {
    const groups = async (...sizes: number[]) =>
      idsOf((await ticked({ due: sizes.map((size, n) => dueRow(`${n}`, size)), occurrences: 2_000 })).written);
    expect(await groups(500, 499)).toEqual([["0", "1"]]);
    expect((await groups(500, 500)).at(0)).toEqual(["0", "1"]);
    expect((await groups(500, 501)).slice(0, 2)).toEqual([["0"], ["1"]]);
    expect((await groups(400, 600, 1)).slice(0, 2)).toEqual([["0", "1"], ["2"]]);
    expect((await groups(600, 600, 400)).slice(0, 2)).toEqual([["0"], ["1", "2"]]);
  });

  test("has the schedules with the fewest missed times first", async () => {
    const outage = (id: string, missed: number): ScheduleRow =>
      aRow({ id, spec: every(10 * minute), decidedUntil: now - missed * 10 * minute });
    const order = async (...missed: number[]) =>
      idsOf((await ticked({ due: missed.map((each) => outage(`${each}`, each)) })).written);
    expect(await order(5, 0, 3)).toEqual([["0", "3", "5"]]);
    expect(await order(0, 3, 5)).toEqual([["0", "3", "5"]]);
    expect(await order(5, 3, 0)).toEqual([["0", "3", "5"]]);
  });
});

test("a tick leaves a schedule with its own rule alone unless something is to be written", async () => {
  const grace = 90_000;
  const next = now + 10 * minute;
  for (const launch of ["rule", "tick"] as const)
    for (const decides of [false, true])
      for (const isSame of [true, false])
        for (const isEdited of [false, true]) {
          const undecided = launch === "rule" ? now - 10 * minute : now + 2 * minute;
          const expression = { form: "at", at: decides ? undecided : next } as const;
          const then = decides ? null : next + (launch === "rule" ? grace : 0);
          const carry = isEdited ? ({ missed: 0, missedUntil: null, catchUpUntil: null, edited: true } as const) : null;
          const row = aRow({
            spec: aSpec({ expression, launch }),
            decidedUntil: now - hour,
            nextAt: isSame ? then : now,
            carry,
          });
          const { written, counts } = await ticked({ due: [row] });
          const isLeft = launch === "rule" && !decides && isSame && !isEdited;
          const said = [launch, decides, isSame, isEdited];
          expect([...said, idsOf(written)]).toEqual([...said, isLeft ? [] : [["s"]]]);
          expect(counts).toMatchObject({ schedules: isLeft ? 0 : 1, undecided: 0 });
        }
});

describe("a schedule left undecided", () => {
  const edited = { missed: 0, missedUntil: null, catchUpUntil: null, edited: true } as const;

  test.each([
    ["gone", "gone"],
    [new RangeError("no such zone"), "no such zone"],
  ])("is logged with what was thrown: %s", async (thrown, problem) => {
    const due = [aRow({ carry: edited, decidedUntil: now })];
    const { counts, lines } = await ticked({ due, facts: () => Promise.reject(thrown) });
    expect(counts).toMatchObject({ schedules: 0, undecided: 1 });
    expect(lines.map((line) => line.fields)).toEqual([{ schedule: "s", version: 1, problem }]);
  });

  test("is counted each time, and logged for the first thousand of a process", async () => {
    const unknown = aSpec({ job: { ...aSpec().job, kind: "unknown" } });
    const many = scheduleLimits.reportedProblemsMax + 2;
    const due = Array.from({ length: many }, (_, n) => aRow({ id: `a${n}`, spec: unknown }));
    const { counts, lines } = await ticked({ due });
    expect(counts.undecided).toBe(many);
    expect(lines).toHaveLength(1_000);
  });
});
