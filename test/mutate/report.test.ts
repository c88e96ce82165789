import { expect, onTestFinished, test, vi } from "vitest";
import { keptReasons, type Reasons, type Verdict } from "./kept.ts";
import type { Judged } from "./ledger.ts";
import { changeOf, type Mutant, mutantOf, placeOf } from "./mutant.ts";
import { changesOf, mutatedFiles } from "./places.ts";
import { report } from "./report.ts";

const source = "a and b";
const place = { file: "src/x.ts", name: "x", start: 0, end: source.length };
const mutants = Array.from({ length: 40 }, (_, n): Mutant =>
  mutantOf(source, place, { operator: "drop a condition", start: 0, end: 1, after: String(n) }),
);

function reported(is: (n: number) => Verdict["is"] | null, reasons: Reasons): number {
  const spy = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => spy.mockRestore());
  const ledger = new Map(
    mutants.flatMap(({ key }, n): [string, Judged][] => {
      const kind = is(n);
      return kind === null ? [] : [[key, { is: kind, commit: "01234567" }]];
    }),
  );
  return report({ chosen: mutants, ledger, reasons, oldest: ([first = "none"]) => first });
}

const reasonsFor = (...numbers: readonly number[]): Reasons => ({
  [placeOf(mutants[0] as Mutant)]: Object.fromEntries(
    numbers.map((n) => [changeOf(mutants[n] as Mutant), "the two orders give the same rows"]),
  ),
});

test.each<[what: string, is: (n: number) => Verdict["is"] | null, reasons: Reasons, code: number]>([
  ["every mutant is found", () => "killed", {}, 0],
  ["a survivor has a reason", (n) => (n === 3 ? "survived" : "killed"), reasonsFor(3), 0],
  ["a survivor has none", (n) => (n === 3 ? "survived" : "killed"), {}, 1],
  ["more than one in twenty survive", (n) => (n > 0 && n < 4 ? "survived" : "killed"), reasonsFor(1, 2, 3), 1],
  ["one was not judged yet", (n) => (n === 5 ? null : "killed"), {}, 1],
])("when %s", (_, is, reasons, code) => {
  expect(reported(is, reasons)).toBe(code);
});

test("each reason is of a change that a statement has", () => {
  const changes = mutatedFiles().flatMap(changesOf);
  const known = new Set(changes.map(({ mutant }) => `${placeOf(mutant)}: ${changeOf(mutant)}`));
  const reasons = Object.entries(keptReasons()).flatMap(([place, of]) =>
    Object.keys(of).map((each) => `${place}: ${each}`),
  );
  expect(reasons.filter((reason) => !known.has(reason))).toEqual([]);
});
