import { globSync } from "node:fs";
import { expect, test } from "vitest";
import { readSource } from "./imports.ts";

const appLinesMax = 150;
const linesMax = 500;
const examples = ["batch-scheduler", "daily-quiz", "dag-batch", "taskflow", "time-capsule"];

const linesOf = (file: string): number => readSource(file).split("\n").length - 1;

/** All of it: also its tests, the outside services that are played, their input and its seed. The graphs are data. */
const filesOf = (example: string): readonly string[] => globSync(`examples/${example}/**/*.{ts,sql}`);

test.each(examples)("examples/%s is short", (example) => {
  expect(linesOf(`examples/${example}/app.ts`)).toBeLessThanOrEqual(appLinesMax);
  expect(filesOf(example).reduce((sum, file) => sum + linesOf(file), 0)).toBeLessThanOrEqual(linesMax);
});

test.each(examples)("examples/%s says how to try it, what its words became and what is done", (example) => {
  const readme = readSource(`examples/${example}/README.md`);
  const headings = ["## Try it", "## Change a rule", "## Its words here", "## Every item of it"];
  expect(headings.filter((heading) => !readme.includes(heading))).toEqual([]);
  expect(readme).not.toMatch(/\|\s*partly/i);
});
