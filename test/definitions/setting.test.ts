import { describe, expect, test } from "vitest";
import { describe as line, ProblemList, ProblemsFound } from "../../src/core/define/problem.ts";
import { checkId, readChoice, readCount, readDuration } from "../../src/core/define/setting.ts";
import { mapStages, valueFor } from "../../src/core/define/stage.ts";

/** What a reading gives, and the problems it finds. */
function reading<T>(read: (problems: ProblemList) => T): [T, ...string[]] {
  const problems = new ProblemList("thing");
  const value = read(problems);
  return [value, ...problems.found.map(line)];
}

describe("a duration", () => {
  const form = 'is not a duration; write a number and a unit, like "500ms", "30s", "5m", "2h" or "1d"';
  test.each<[unknown, number, ...string[]]>([
    [undefined, 7],
    ["1s", 1_000],
    ["1001ms", 1_001],
    ["1m", 60_000],
    ["999ms", 7, 'thing: wait "999ms" must be at least 1s; use a longer one'],
    ["60001ms", 7, 'thing: wait "60001ms" must be at most 1m; use a shorter one'],
    ["soon", 7, `thing: wait "soon" ${form}`],
    [5, 7, `thing: wait 5 ${form}`],
    [null, 7, `thing: wait null ${form}`],
  ])("%j from 1s to 1m gives %j", (value, ...expected) => {
    const bounds = { min: 1_000, max: 60_000, fallback: 7 };
    expect(reading((problems) => readDuration(problems, "wait", value, bounds))).toEqual(expected);
  });

  test("says why the bound is there, and what to do", () => {
    const bounds = { min: 1_000, max: 60_000, fallback: null, because: "of sand", whenTooLong: "take a calendar" };
    const read = (value: string) => reading((problems) => readDuration(problems, "wait", value, bounds));
    expect(read("1h")).toEqual([null, 'thing: wait "1h" must be at most 1m (of sand); take a calendar']);
    expect(read("1ms")).toEqual([null, 'thing: wait "1ms" must be at least 1s (of sand); use a longer one']);
  });
});

test.each<[unknown, number | null]>([
  [undefined, null],
  [2, 2],
  [5, 5],
])("the count %j from 2 to 5 gives %j", (value, expected) => {
  const bounds = { min: 2, max: 5, fallback: null };
  expect(reading((problems) => readCount(problems, "size", value, bounds))).toEqual([expected]);
});

test.each([1, 6, 2.5, "3", null, Number.NaN])("the count %j from 2 to 5 is refused", (value) => {
  const bounds = { min: 2, max: 5, fallback: 4 };
  expect(reading((problems) => readCount(problems, "size", value, bounds))).toEqual([
    4,
    `thing: size ${JSON.stringify(value)} must be a whole number from 2 to 5; change it, or leave it out for the default`,
  ]);
});

test.each<[unknown, string, ...string[]]>([
  [undefined, "skip"],
  ["skip", "skip"],
  ["allow", "allow"],
  ["stop", "skip", 'thing: rule "stop" is not one of the choices; use "allow" or "skip"'],
  [null, "skip", 'thing: rule null is not one of the choices; use "allow" or "skip"'],
])("the choice %j of allow and skip gives %j", (value, ...expected) => {
  const among = { choices: ["allow", "skip"], fallback: "skip" } as const;
  expect(reading((problems) => readChoice(problems, "rule", value, among))).toEqual(expected);
});

describe("an id", () => {
  test.each(["a", "a1", "a-b.c_d", "a".repeat(8)])("may be %j", (id) => {
    expect(reading((problems) => checkId(problems, "id", id, 8))).toEqual([undefined]);
  });

  test.each<[unknown]>([[""], ["a".repeat(9)], ["A"], ["1a"], ["a--b"], ["a-"], [null], [undefined], [5], [["abc"]]])(
    "may not be %j",
    (id) => {
      const [, problem] = reading((problems) => checkId(problems, "id", id, 8));
      expect(problem).toContain(
        `thing: id ${id === undefined ? "(missing)" : JSON.stringify(id)} must be 1 to 8 characters: small letters`,
      );
    },
  );

  test("has 64 characters at most where nothing else is said", () => {
    expect(reading((problems) => checkId(problems, "id", "a".repeat(64)))).toEqual([undefined]);
    expect(reading((problems) => checkId(problems, "id", "a".repeat(65)))).toHaveLength(2);
  });
});

test.each<[string, unknown, string]>([
  ["nothing", undefined, "(missing)"],
  ["a bigint", 7n, "7"],
  ["a symbol", Symbol("lane"), "Symbol(lane)"],
  ["a function", Math.max, "function max() { [native code] }"],
  ["120 characters", "x".repeat(118), `"${"x".repeat(118)}"`],
  ["121 characters", "x".repeat(119), `"${"x".repeat(116)}...`],
  ["an object", { a: [1, null] }, '{"a":[1,null]}'],
])("%s is shown in a problem", (_, value, shown) => {
  expect(reading((problems) => problems.add("field", value, "is wrong", ""))).toEqual([
    undefined,
    `thing: field ${shown} is wrong`,
  ]);
});

test("an error of problems counts them, and has a line for each", () => {
  const problems = new ProblemList("thing");
  problems.add("a", 1, "is wrong", "");
  expect(new ProblemsFound(problems.found).message).toBe(
    "1 problem in the definitions and their settings:\n  - thing: a 1 is wrong",
  );
  problems.add("b", 2, "is wrong", "change it");
  const both = new ProblemsFound(problems.found);
  expect(both.problems).toEqual(problems.found);
  expect(both.message).toBe(
    "2 problems in the definitions and their settings:\n  - thing: a 1 is wrong\n  - thing: b 2 is wrong; change it",
  );
});

test.each<[string, Parameters<typeof valueFor>[1], unknown]>([
  ["one value for all", 5, 5],
  ["none", undefined, undefined],
  ["its own", { dev: 1, default: 2 }, 1],
  ["that of the others", { prod: 1, default: 2 }, 2],
  ["none of the others", { prod: 1 }, undefined],
])("a stage has %s", (_, setting, expected) => {
  expect(valueFor("dev", setting)).toBe(expected);
  expect(valueFor("toString", { prod: 1 })).toBeUndefined();
});

test("every value of a setting is changed, with its stage", () => {
  const change = (value: number, stage: string | null): string => `${stage}: ${value}`;
  expect(mapStages(5, change)).toEqual({ default: "null: 5" });
  expect(mapStages({ dev: 1, default: 2 }, change)).toEqual({ dev: "dev: 1", default: "default: 2" });
});
