import { expect, test } from "vitest";
import { pauseFrom } from "../../src/api/pause-query.ts";
import { HttpProblem } from "../../src/api/problem.ts";
import { dayMs } from "../../src/machine/units.ts";
import { pauseDaysMax } from "../../src/machine/pause.ts";

const now = Date.parse("2026-11-23T12:00:00Z");
const asked = (until?: string, timezone = "UTC") => pauseFrom({ until, timezone, reason: undefined }, "ada", now);

function problemOf(until: string, timezone?: string): unknown {
  try {
    return asked(until, timezone);
  } catch (error) {
    return error instanceof HttpProblem ? [error.status, error.code, error.issues] : error;
  }
}

test("an end lies in the future and not too far away, to the millisecond", () => {
  const iso = (at: number): string => new Date(at).toISOString();
  const refused = (message: string) => [422, "invalid-time", [{ path: "until", message }]];
  expect(problemOf(iso(now))).toEqual(refused("must lie in the future"));
  expect(problemOf(iso(now - 1))).toEqual(refused("must lie in the future"));
  expect(asked(iso(now + 1)).until).toBe(now + 1);
  const last = now + pauseDaysMax * dayMs;
  expect(asked(iso(last)).until).toBe(last);
  expect(problemOf(iso(last + 1))).toEqual(refused(`must be at most ${pauseDaysMax} days away`));
});

test("what cannot be read is refused with the forms that can", () => {
  const message = "must be like 2h, 6:00, 2026-11-23T06:00 or 2026-11-23T06:00:00Z";
  expect(problemOf("soon")).toEqual([422, "invalid-time", [{ path: "until", message }]]);
  expect(problemOf("2h", "Mars/Base")).toMatchObject([422, "invalid-time", [{ path: "timezone" }]]);
});
