import { describe, expect, test } from "vitest";
import { type Coming, cappedOf, loadOf, overlappingOf, typicalRunMs } from "../../src/api/expected-load.ts";
import { registry } from "../../src/define/definition.ts";
import { defineApp, defineJob } from "../../src/compose/index.ts";
import { type KindHours, percentilesOf, readKindHours } from "../../src/insight/kind-figures.ts";
import type { Database } from "../../src/insight/sql-query.ts";
import { insightLimits } from "../../src/insight/insight-limits.ts";
import { aRow, aSpec, hour, midnight, minute } from "../schedules/spec.ts";

const rowOf = (id: string, kind: string, lane: string) =>
  aRow({ id, spec: aSpec({ id, job: { ...aSpec().job, kind, lane } }) });
const coming = (minutes: readonly number[], row = rowOf("s", "work", "default")): readonly Coming[] =>
  minutes.map((each) => ({ at: midnight + each * minute, nominalAt: midnight + each * minute, row }));
const atMinutes = (found: ReadonlySet<Coming>) => [...found].map(({ at }) => (at - midnight) / minute);

describe("how long a kind typically runs", () => {
  const hours = async (rows: readonly Partial<KindHours>[], now = midnight) => {
    const asked: unknown[] = [];
    const run = async (query: object, options: unknown) => {
      if (query === readKindHours) asked.push(options);
      return rows;
    };
    return { typical: await typicalRunMs({ insight: { run } as unknown as Database }, now), asked };
  };

  test("is the middle of its attempts of all lanes: a few long ones do not count", async () => {
    const { typical } = await hours([
      { kind: "work", lane: "a", bucket: 4, ran: 20 },
      { kind: "work", lane: "b", bucket: 4, ran: 60 },
      { kind: "work", lane: "b", bucket: 30, ran: 20 },
      { kind: "idle", lane: "b", bucket: 30, ran: 0 },
    ]);
    const of = percentilesOf(
      new Map([
        [4, 80],
        [30, 20],
      ]),
    );
    expect(of?.p95).toBeGreaterThan(100 * (of?.p50 ?? 0));
    expect([...typical]).toEqual([["work", of?.p50]]);
  });

  test("is looked up in the last week, with the hour that has begun", async () => {
    const { asked } = await hours([], midnight + 59 * minute);
    const to = midnight + hour;
    const now = { from: to - insightLimits.typicalHours * hour, to };
    expect(asked).toEqual([{ now, before: { from: to, to }, kind: null, lane: null }]);
  });
});

describe("the load of a lane", () => {
  const lanes = [{ name: "default", concurrency: 2, batchSize: 5, functionTimeoutSeconds: 60, memoryMb: 512 }];
  const span = { from: midnight, to: midnight + hour };
  const typical = new Map([["work", 30 * minute]]);

  const at = (minutes: number): string => new Date(midnight + minutes * minute).toISOString();

  test("is its work and how many run or wait at once, beside what it can do, with what waits for a place", () => {
    const times = coming([0, 20, ...Array.from({ length: 11 }, () => 22), 59, 60]);
    const pileUp = { from: at(22), drainsAt: at(52), over: 3, overAt: at(22), longestWaitMs: 30 * minute };
    expect(loadOf({ times, due: [] }, typical, { lanes, span, parts: 6 })).toEqual([
      {
        lane: "default",
        times: 15,
        jobs: 0,
        unknown: 0,
        expectedMs: 450 * minute,
        capacityMs: 10 * hour,
        busiest: { at: at(20), share: 1.3 },
        wanted: [1, 1, 13, 12, 12, 11],
        pileUp,
      },
    ]);
  });

  test("counts jobs that exist and wait for a time, each as long as its kind usually takes", () => {
    const due = [{ schedule: null, kind: "work", lane: "push", part: 2, jobs: 178, firstAt: at(21), lastAt: at(29) }];
    expect(loadOf({ times: [], due }, typical, { lanes, span, parts: 6 })).toMatchObject([
      { lane: "push", times: 0, jobs: 178, unknown: 0, expectedMs: 178 * 30 * minute, capacityMs: null, busiest: null },
    ]);
    expect(loadOf({ times: [], due }, typical, { lanes, span, parts: 6 })[0]?.wanted).toEqual([
      0, 0, 178, 178, 178, 178,
    ]);
  });

  test("is counted by lane, by name; of a kind that has not run only its times are, and of a lane without settings no share", () => {
    const times = [
      ...coming([1], rowOf("n", "new", "default")),
      ...coming([2, 3], rowOf("o", "work", "old")),
      ...coming([60], rowOf("a", "work", "another")),
    ];
    const none = { capacityMs: null, busiest: null };
    expect(loadOf({ times, due: [] }, typical, { lanes, span, parts: 6 })).toMatchObject([
      { lane: "another", times: 1, jobs: 0, unknown: 0, expectedMs: 30 * minute, ...none },
      { lane: "default", times: 1, jobs: 0, unknown: 1, expectedMs: 0, capacityMs: 10 * hour, busiest: { share: 0.1 } },
      { lane: "old", times: 2, jobs: 0, unknown: 0, expectedMs: 60 * minute, ...none },
    ]);
  });
});

describe("a cap", () => {
  const one = defineJob({ id: "one", concurrency: 1, run: () => {} });
  const two = defineJob({ id: "two", concurrency: 2, run: () => {} });
  const locked = defineJob({ id: "locked", lock: {}, run: () => {} });
  const known = registry([defineApp({ name: "a", jobs: [one, two, locked] })]);
  const typical = new Map(["one", "two", "locked"].map((kind) => [kind, 10 * minute]));
  const capped = (kind: string, minutes: readonly number[], sizes = new Map<string, number>()) =>
    atMinutes(cappedOf(coming(minutes, rowOf("s", kind, "default")), typical, { registry: known, sizes }));

  test("is full for the times that come before enough of those before have ended", () => {
    expect(capped("one", [0, 5, 10, 20, 30])).toEqual([5, 10, 20, 30]);
    expect(capped("one", [0, 10, 20])).toEqual([]);
    expect(capped("two", [0, 1, 2, 11, 12])).toEqual([2, 12]);
    expect(capped("locked", [0, 1, 2])).toEqual([]);
  });

  test("has the size that was set last, not that of the code", () => {
    expect(capped("one", [0, 1, 2], new Map([["cap:one", 2]]))).toEqual([2]);
  });
});

test("a time overlaps the one before it of its own schedule, as far as its kind is known to run", () => {
  const typical = new Map([["work", 10 * minute]]);
  const other = rowOf("other", "work", "default");
  const times = [...coming([0]), ...coming([5], other), ...coming([9, 19]), ...coming([20], other)];
  expect(atMinutes(overlappingOf(times, typical))).toEqual([9]);
  expect(overlappingOf(coming([0, 1]), new Map())).toEqual(new Set());
});
