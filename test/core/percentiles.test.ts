import { describe, expect, test } from "vitest";
import { hourBuckets, percentilesOf } from "../../src/insight/kind-figures.ts";

/** Bucket 21 counts durations from 2^10 to 2^10.5 ms. */
const [low, high] = [1_024, 1_024 * Math.SQRT2];
const within = (share: number): number => Math.round(low + (high - low) * share);

describe("the percentiles of a histogram", () => {
  test.each<[string, readonly (readonly [number, number])[]]>([
    ["no bucket", []],
    ["a bucket without attempts", [[21, 0]]],
  ])("are none of %s", (_, buckets) => {
    expect(percentilesOf(new Map(buckets))).toBeNull();
  });

  test.each([1, 10, 1_000])("spread %i attempts evenly within their bucket", (count) => {
    expect(percentilesOf(new Map([[21, count]]))).toEqual({ p50: within(0.5), p95: within(0.95), p99: within(0.99) });
  });

  test("go by count over the buckets, in whichever order they come", () => {
    const buckets = new Map([
      [31, 40],
      [5, 0],
      [21, 50],
      [25, 0],
      [41, 10],
    ]);
    const [slow, slowest] = [2 ** 15, 2 ** 20];
    expect(percentilesOf(buckets)).toEqual({
      p50: Math.round(high),
      p95: Math.round(slowest + slowest * (Math.SQRT2 - 1) * 0.5),
      p99: Math.round(slowest + slowest * (Math.SQRT2 - 1) * 0.9),
    });
    expect(
      percentilesOf(
        new Map([
          [21, 49],
          [31, 51],
        ]),
      )?.p50,
    ).toBe(Math.round(slow + slow * (Math.SQRT2 - 1) * (1 / 51)));
  });

  test("begin at nothing in the first bucket, and stay at the last bound beyond it", () => {
    expect(percentilesOf(new Map([[0, 100]]))).toEqual({ p50: 1, p95: 1, p99: 1 });
    expect(percentilesOf(new Map([[1, 4]]))).toEqual({ p50: 1, p95: 1, p99: 1 });
    const last = 2 ** 30;
    expect(hourBuckets).toHaveLength(61);
    expect(percentilesOf(new Map([[61, 3]]))).toEqual({ p50: last, p95: last, p99: last });
  });
});
