import { expect, test } from "vitest";
import { states } from "../../src/core/job/state.ts";
import { compare } from "./model.ts";

/** fast-check names the shortest sequence that still differs. */
const seeds = [1, 2, 3, 4, 5, 6];
const ends = [
  ...states.map((state) => `job ${state}`),
  ...["RUNNING", "CANCELING", "DONE", "FAILED", "CANCELED"].map((state) => `run ${state}`),
  ...["PLANNED", "FIRED", "CAUGHT_UP", "SKIPPED"].map((outcome) => `time ${outcome}`),
];

test.each(seeds)(
  "Postgres and the reference store answer 100 random sequences of seed %i alike, which reach every state",
  async (seed) => {
    expect(await compare(seed, 100)).toEqual(expect.arrayContaining(ends));
  },
  600_000,
);
