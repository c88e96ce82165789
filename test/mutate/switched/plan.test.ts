import { expect, test } from "vitest";
import { Killers } from "../choose.ts";
import { functionHit } from "../instrument.ts";
import { Plan, type Try } from "./plan.ts";

const one: Try = { file: "src/x.ts", at: 0, key: "aaaaaaaaaaaa", place: "x" };
const unentered: Try = { ...one, key: "bbbbbbbbbbbb", place: "y" };
const file = "test/x.test.ts";
const coverage = {
  commit: "01234567",
  hits: {
    [functionHit("src/x.ts", "x")]: { [file]: ["slow", "wide", "narrow"], "test/set-up.test.ts": null },
  },
  ms: { [file]: { file: 7_100, tests: { slow: 5_000, wide: 50, narrow: 50, other: 2_000, small: 5 } } },
  breadth: { [`${file} > slow`]: 1, [`${file} > wide`]: 300, [`${file} > narrow`]: 1 },
};
const files = new Set([file, "test/set-up.test.ts"]);

test("narrow and quick tests come first, each once, and no further one when the time is over", () => {
  const plan = new Plan(coverage, new Killers());
  const next = (testsMax: number, msMax: number): string[] => [...plan.next([one], files, { testsMax, msMax }).keys()];
  expect(next(1, 1_000)).toEqual([`${file} > narrow`]);
  expect(next(9, 1_000)).toEqual([`${file} > wide`]);
  expect(next(9, 1_000)).toEqual([]);
  expect(next(9, 9_000)).toEqual([`${file} > slow`]);
});

test("a test that found another mutant of the place comes first, and one that fails without a mutant never", () => {
  const found = new Killers();
  for (let n = 0; n < 100; n += 1) found.add(one, `${file} > wide`);
  const plan = new Plan(coverage, found);
  plan.distrust(`${file} > narrow`);
  expect([...plan.next([one], files, { testsMax: 9, msMax: 1_000 }).keys()]).toEqual([`${file} > wide`]);
});

test("what only a set-up enters is entered, and nothing is asked for what no test enters", () => {
  const plan = new Plan(coverage, new Killers());
  expect([one, unentered].map((each) => plan.isEntered(each))).toEqual([true, false]);
  expect(plan.next([unentered], files, { testsMax: 9, msMax: 1_000 }).size).toBe(0);
});

test("the files whose tests are quick come first", () => {
  const plan = new Plan(
    { ...coverage, ms: { ...coverage.ms, "test/y.test.ts": { file: 9, tests: { quick: 9 } } } },
    new Killers(),
  );
  const order = plan.order(new Map([`${file} > wide`, "test/y.test.ts > quick"].map((name) => [name, [one]])));
  expect(Object.keys(order)).toEqual(["test/y.test.ts", file]);
});

test("tests that take long and are not asked are left out of a file that is", () => {
  const order = new Plan(coverage, new Killers()).order(
    new Map([
      [`${file} > narrow`, [one]],
      [`${file} > slow`, []],
    ]),
  );
  expect(order).toEqual({ [file]: { tests: { narrow: [one] }, without: ["slow", "other"] } });
});
