import { expect, test } from "vitest";
import { type JoinRule, joinVerdict } from "../../src/machine/join.ts";

/** Which of open, ok and bad there are, and the verdicts of `all`, `any` and `allDone`. */
const table: [open: boolean, ok: boolean, bad: boolean, all: string, any: string, allDone: string][] = [
  [false, false, false, "not taken", "not taken", "ready"],
  [false, false, true, "upstream", "upstream", "ready"],
  [false, true, false, "ready", "ready", "ready"],
  [false, true, true, "upstream", "ready", "ready"],
  [true, false, false, "wait", "wait", "wait"],
  [true, false, true, "upstream", "wait", "wait"],
  [true, true, false, "wait", "ready", "wait"],
  [true, true, true, "upstream", "ready", "wait"],
];
const counts = (some: boolean): number[] => (some ? [1, 2, 50_000] : [0]);

test.each<[JoinRule, number]>([
  ["all", 3],
  ["any", 4],
  ["allDone", 5],
])("%s depends only on which ends there are, and not on how many", (rule, column) => {
  for (const row of table)
    for (const open of counts(row[0]))
      for (const ok of counts(row[1]))
        for (const bad of counts(row[2]))
          expect([open, ok, bad, joinVerdict(rule, { open, ok, bad })]).toEqual([open, ok, bad, row[column]]);
});

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
