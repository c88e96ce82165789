import { expect, test } from "vitest";
import { Killers, wavesFor } from "./choose.ts";
import { mutantOf } from "./mutant.ts";
import { leftOut, ruleFor } from "./rules.ts";
import { parse } from "./syntax.ts";

const place = { file: "src/x.ts", name: "x", start: 0, end: 9 };
const mutant = mutantOf("a and b c", place, { operator: "drop a condition", start: 0, end: 1, after: "" });
const reaching = { "test/a.test.ts": ["quick", "slow"], "test/b.test.ts": ["broad"] };
const coverage = {
  ms: {
    "test/a.test.ts": { file: 5_010, tests: { quick: 10, slow: 5_000 } },
    "test/b.test.ts": { file: 1_500, tests: { broad: 1_500 } },
  },
  breadth: { "test/a.test.ts > quick": 2, "test/a.test.ts > slow": 2, "test/b.test.ts > broad": 3 },
};

test("quick and narrow tests come first, and no further one when the time is over", () => {
  const found = new Killers();
  const all = wavesFor(reaching, mutant, { coverage, found, testMsMax: 60_000 });
  expect(all.flat().map(({ tests }) => tests)).toEqual([["quick"], ["broad"], ["slow"]]);
  const few = wavesFor(reaching, mutant, { coverage, found, testMsMax: 5 });
  expect(few).toEqual([[{ file: "test/a.test.ts", tests: ["quick"] }]]);
});

test("a test that found another mutant of the place comes first", () => {
  const found = new Killers();
  for (let n = 0; n < 100; n += 1) found.add(mutant, "test/a.test.ts > slow");
  const [first] = wavesFor(reaching, mutant, { coverage, found, testMsMax: 60_000 });
  expect(first?.[0]?.tests).toEqual(["slow"]);
});

test("what a log line says is left out, and the condition around it is not", () => {
  const source = `function f() { if (a > 1) ports.log.warn("x", { n: 2 }); }`;
  const at = (text: string): number => source.indexOf(text);
  const changed = (start: number): ReturnType<typeof ruleFor> =>
    ruleFor(
      mutantOf(
        source,
        { ...place, end: source.length },
        { operator: "shift a bound", start, end: start + 1, after: "3" },
      ),
      leftOut(source, parse("x.ts", source)),
    );
  expect(changed(at("2 }"))).toBe("inside a call of a log or a metric");
  expect(changed(at("1)"))).toBeNull();
});
