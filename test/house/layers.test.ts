import { expect, test } from "vitest";
import { readSource, sourceFiles } from "./imports.ts";
import { layers, layerViolations } from "./layers.ts";

const source = sourceFiles().filter((file) => file.startsWith("src/"));

test("no file of src imports from a room above its own, or passes on what is another room's", () => {
  expect(source.length).toBeGreaterThan(400);
  expect(source.flatMap((file) => layerViolations(file, readSource(file)))).toEqual([]);
});

test("every file of src lies in a room, and every room has its place in the order", () => {
  expect(source.filter((file) => !/^src\/[^/]+\//.test(file))).toEqual([]);
  expect(new Set(source.map((file) => file.split("/")[1]))).toEqual(new Set([...layers, "console"]));
});

test.each([
  ["src/machine/decide.ts", 'import { enqueue } from "../run/enqueue.ts";'],
  ["src/define/define-job.ts", 'import { enqueue } from "../run/enqueue.ts";'],
  ["src/run/worker.ts", 'const { pass } = await import("../schedule/pass.ts");'],
  ["src/insight/lanes.ts", 'import { connect } from "../postgres/connect.ts";'],
  ["src/insight/explain.ts", 'import { createApi } from "../api/api.ts";'],
  ["src/insight/explain.ts", 'import { news } from "../news/news.ts";'],
  ["src/run/worker.ts", 'export { decide } from "../machine/decide.ts";'],
])("a planted arrow in %s is found: %s", (file, text) => {
  expect(layerViolations(file, text)).toHaveLength(1);
});

test.each([
  ["src/define/define-job.ts", 'import { formatDuration } from "../calendar/duration.ts";'],
  ["src/insight/explain.ts", 'import { pass } from "../schedule/pass.ts";\nimport { z } from "zod";'],
  ["src/compose/index.ts", 'export { defineJob } from "../define/define-job.ts";'],
])("an allowed import in %s is not: %s", (file, text) => {
  expect(layerViolations(file, text)).toEqual([]);
});
