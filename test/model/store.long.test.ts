import { expect, test } from "vitest";
import { states } from "../../src/machine/state.ts";
import { compare } from "./model.ts";

const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 17];
const reached = new Set<string>();

/** fast-check names the shortest sequence that still differs. */
test.each(seeds)(
  "Postgres and the reference store answer 40 random sequences of seed %i alike",
  async (seed) => {
    const ends = await compare(seed, 40);
    for (const end of ends) reached.add(end);
    expect(ends).toContain("job SUCCESS");
  },
  600_000,
);

test("the sequences of all seeds end in every state of jobs, runs and times", () => {
  const wanted = [
    ...states.map((state) => `job ${state}`),
    ...["RUNNING", "CANCELING", "DONE", "FAILED", "CANCELED"].map((state) => `run ${state}`),
    "rows DONE",
    ...["PLANNED", "FIRED", "CAUGHT_UP", "SKIPPED"].map((outcome) => `time ${outcome}`),
  ];
  expect(wanted.filter((each) => !reached.has(each))).toEqual([]);
});
