import { describe, expect, expectTypeOf, test } from "vitest";
import type { Duration } from "../../src/calendar/duration.ts";
import { defineJob } from "../../src/define/define-job.ts";
import type { RetryOptions } from "../../src/define/retry.ts";
import { backoffMs, backoffNames, backoffs, type RetryPolicy } from "../../src/machine/backoff.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { readSource } from "../house/imports.ts";
import { checkApps } from "../../src/define/check.ts";
import { appOf, jobOf, shop } from "./world.ts";

const policy: RetryPolicy = { maxAttempts: 9, backoff: "fixed", baseMs: 1_000, capMs: 60_000, jitter: false };
const run = (): void => {
  throw new Error("busy");
};
const problemsOf = (retry: RetryOptions) =>
  checkApps([appOf(defineJob({ id: "a", retry, run }))], "test").map(({ field, rule }) => `${field} ${rule}`);

describe("the table of backoffs", () => {
  test.each(backoffNames)("%s can be chosen, waits as the table says and stands in the docs", (name) => {
    expect(problemsOf({ maxAttempts: 2, backoff: name })).toEqual([]);
    for (const failures of [0, 1, 5, 60]) {
      const wait = Math.min(policy.capMs, backoffs[name](failures, policy));
      expect(backoffMs({ ...policy, backoff: name }, failures, 0.5)).toBe(wait);
    }
    expect(readSource("docs/definitions.md")).toContain(`\`${name}\``);
  });

  test("is the type of the setting: a name that is not in it does not compile and is a problem", () => {
    expectTypeOf<Extract<RetryOptions["backoff"], string>>().toEqualTypeOf<keyof typeof backoffs>();
    expectTypeOf<Extract<RetryPolicy["backoff"], string>>().toEqualTypeOf<keyof typeof backoffs>();
    // @ts-expect-error -- no such backoff.
    const retry: RetryOptions = { maxAttempts: 2, backoff: "linear" };
    expect(problemsOf(retry)).toEqual([expect.stringContaining("retry.backoff")]);
  });
});

describe("a backoff of a definition's own", () => {
  const own = (backoff: (failures: number) => Duration, over: Partial<RetryOptions> = {}) =>
    defineJob({ id: "own", retry: { maxAttempts: 4, backoff, ...over }, run });

  test("is called with the failures before, from 0 on, and bounds nothing by itself", async () => {
    const { world: ports, enqueue, work } = await shop([own((failures) => `${failures + 1}h`)]);
    const id = await enqueue(
      own(() => "1h"),
      undefined,
    );
    await work();
    expect(await jobOf(ports, id)).toMatchObject({ state: "RETRY_WAIT", failures: 1 });
    const { dueAt } = await jobOf(ports, id);
    expect(dueAt - (await ports.store.now())).toBe(3_600_000);
  });

  test("is cut at the cap, or at the longest delay there is", () => {
    const waits = { ...policy, backoff: () => 1e15 };
    expect(backoffMs(waits, 0, 0.5)).toBe(60_000);
    expect(backoffMs({ ...waits, capMs: contractLimits.delayMsMax }, 0, 0.5)).toBe(contractLimits.delayMsMax);
  });

  test.each([-1, -0.001, Number.NaN, Number.NEGATIVE_INFINITY])(
    "that answers %s ms is refused with what it answered",
    (ms) => {
      const waits = { ...policy, backoff: () => ms };
      expect(() => backoffMs(waits, 3, 0.5)).toThrow(
        new RangeError(`retry.backoff(3) is ${ms} ms; it must be 0 or more`),
      );
      expect(backoffMs({ ...waits, backoff: () => 0 }, 3, 0.5)).toBe(0);
    },
  );

  test("that answers no duration is found by check, with what it answered", () => {
    const [problem] = problemsOf({ maxAttempts: 2, backoff: () => "soon" as Duration });
    expect(problem).toMatch(/^retry\.backoff must answer a duration: retry\.backoff\(0\) is "soon"/);
  });

  test("that fails later costs its job nothing: it waits as exponential does, and the log says so", async () => {
    const later = own((failures) => (failures === 0 ? "0s" : ("never" as Duration)), { base: "2s" });
    const { world: ports, enqueue, work } = await shop([later]);
    const id = await enqueue(later, undefined);
    await work();
    await work();
    expect(await jobOf(ports, id)).toMatchObject({ failures: 2 });
    const { dueAt } = await jobOf(ports, id);
    expect(dueAt - (await ports.store.now())).toBe(4_000);
    expect(ports.lines.map(({ message }) => message)).toContain(
      "retry.backoff failed; the job waits as exponential does",
    );
  });
});
