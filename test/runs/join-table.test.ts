import { expect, test } from "vitest";
import { joinVerdict } from "../../src/machine/join.ts";

/** Open, ok and bad of five predecessors of which three must succeed. */
test.each([
  [5, 0, 0, "wait"],
  [1, 2, 2, "wait"],
  [3, 0, 2, "wait"],
  [2, 3, 0, "ready"],
  [0, 3, 2, "ready"],
  [2, 0, 3, "upstream"],
  [0, 2, 1, "upstream"],
  [1, 1, 0, "wait"],
  [0, 2, 0, "not taken"],
])("three of five with %i open, %i ok, %i bad: %s", (open, ok, bad, verdict) => {
  expect(joinVerdict({ atLeast: 3 }, { open, ok, bad })).toBe(verdict);
});

test("of no success of all, the branch was not taken", () => {
  expect(joinVerdict("all", { open: 0, ok: 0, bad: 0 })).toBe("not taken");
});
