import { expect, test } from "vitest";
import { type ExampleReport, verdictOf } from "./report.ts";

const example = (...checks: ExampleReport["checks"]): ExampleReport => {
  const lateness = { p50: 0, p99: 0, max: 0 };
  return { name: "one", pass: checks.every(({ pass }) => pass), jobs: {}, ahead: 0, lateness, checks };
};
const kept = { name: "kept", pass: true, detail: "" };
const broken = { name: "arrived once", pass: false, detail: "2 not" };
const late = { name: "within 60 s", pass: false, detail: "61 s", isTimed: true } as const;

test.each([
  { is: "all checks hold", checks: [kept], ended: "complete", load: 30, verdict: "pass" },
  {
    is: "a promise is broken, also on a busy machine",
    checks: [broken],
    ended: "complete",
    load: 30,
    verdict: "broken",
  },
  { is: "no progress was made", checks: [kept, broken], ended: "stuck", load: 30, verdict: "broken" },
  { is: "the time ran out while progress was made", checks: [broken], ended: "out of time", load: 1, verdict: "slow" },
  { is: "it is late on a busy machine", checks: [kept, late], ended: "complete", load: 11, verdict: "slow" },
  { is: "it is late on a machine with room", checks: [kept, late], ended: "complete", load: 2, verdict: "broken" },
  { is: "it is late and a promise is broken", checks: [late, broken], ended: "complete", load: 11, verdict: "broken" },
] as const)("$is: $verdict", ({ checks, ended, load, verdict }) => {
  expect(verdictOf([example(...checks)], ended, load)).toBe(verdict);
});
