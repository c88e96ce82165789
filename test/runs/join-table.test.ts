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
