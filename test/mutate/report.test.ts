import { expect, onTestFinished, test, vi } from "vitest";
import type { Accepted, Verdict } from "./kept.ts";
import type { Judged } from "./ledger.ts";
import { type Mutant, mutantOf } from "./mutant.ts";
import { report } from "./report.ts";

const source = "a and b";
const place = { file: "src/x.ts", name: "x", start: 0, end: source.length };
const mutants = Array.from({ length: 40 }, (_, n): Mutant =>
  mutantOf(source, place, { operator: "drop a condition", start: 0, end: 1, after: String(n) }),
);

function reported(
  is: (n: number) => Verdict["is"] | null,
  accepted: readonly Accepted[] = [],
): { code: number; text: string } {
  let text = "";
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  const ledger = new Map(
    mutants.flatMap(({ key }, n): [string, Judged][] => {
      const kind = is(n);
      return kind === null ? [] : [[key, { is: kind, commit: "01234567" }]];
    }),
  );
  const everyKey = new Set(mutants.map(({ key }) => key));
  const code = report({
    chosen: mutants,
    ledger,
    accepted,
    everyKey,
    oldest: ([first = "none"]) => first,
    json: false,
  });
  spy.mockRestore();
  return { code, text };
}

const reason = (n: number): Accepted => ({
  key: mutants[n]?.key ?? "",
  mutant: "x",
  reason: "the two orders give the same rows",
});

test("holds when every mutant is found", () => {
  expect(reported(() => "killed").code).toBe(0);
});

test("a survivor without a reason is named and fails the run; with one it passes", () => {
  const one = reported((n) => (n === 3 ? "survived" : "killed"));
  expect(one).toEqual({ code: 1, text: expect.stringContaining(`survived ${mutants[3]?.key}`) });
  expect(reported((n) => (n === 3 ? "survived" : "killed"), [reason(3)]).code).toBe(0);
});

test("reasons do not help above one survivor in twenty", () => {
  const accepted = [reason(1), reason(2), reason(3)];
  expect(reported((n) => (n > 0 && n < 4 ? "survived" : "killed"), accepted).code).toBe(1);
});

test("a reason is out of date when its mutant is found, or is none any more", () => {
  expect(reported(() => "killed", [reason(1)])).toEqual({ code: 1, text: expect.stringContaining("out of date") });
  expect(reported(() => "killed", [{ ...reason(1), key: "000000000000" }]).code).toBe(1);
});

test("what was not judged yet is no success, and what is no mutant does not count", () => {
  expect(reported((n) => (n === 5 ? null : "killed")).code).toBe(1);
  expect(reported((n) => (n < 20 ? "invalid" : "killed")).text).toContain("counted 20, killed 20");
});
