import { expect, test } from "vitest";
import { readSource, sourceFiles } from "./imports.ts";
import { layers, layerViolations } from "./layers.ts";

const core = sourceFiles().filter((file) => /^src\/core\/[^/]+\//.test(file));

test("no file of the core imports from a folder above its own, or passes on what is another folder's", () => {
  expect(core.length).toBeGreaterThan(100);
  expect(core.flatMap((file) => layerViolations(file, readSource(file)))).toEqual([]);
});

test("every folder of the core has its place in the order", () => {
  expect(new Set(core.map((file) => file.split("/")[2]))).toEqual(new Set(layers));
});

test.each([
  ["src/core/job/decide.ts", 'import type { Settlement } from "../ports/store.ts";'],
  ["src/core/define/define-job.ts", 'import { enqueue } from "../delivery/enqueue.ts";'],
  ["src/core/define/define-job.ts", 'import { acquireLock } from "../lock/lock.ts";'],
  ["src/core/work/worker.ts", 'const { pass } = await import("../scheduler/pass.ts");'],
  ["src/core/calendar/cron.ts", 'import { defineJob } from "../index.ts";'],
  ["src/core/admin/control.ts", 'import { api } from "../../api/api.ts";'],
  ["src/core/admin/control.ts", 'import { news } from "../news/news.ts";'],
  ["src/core/work/worker.ts", 'export { relay } from "../delivery/relay.ts";'],
  ["src/core/ports/ports.ts", 'export type * from "../job/job.ts";'],
])("a planted arrow in %s is found: %s", (file, text) => {
  expect(layerViolations(file, text)).toHaveLength(1);
});

test.each([
  ["src/core/define/define-job.ts", 'import { formatDuration } from "../calendar/duration.ts";'],
  ["src/core/ports/ports.ts", 'export * from "./store.ts";'],
  ["src/core/admin/control.ts", 'import { pass } from "../scheduler/pass.ts";\nimport { z } from "zod";'],
  ["src/core/index.ts", 'export { defineJob } from "./define/define-job.ts";'],
])("an allowed import in %s is not: %s", (file, text) => {
  expect(layerViolations(file, text)).toEqual([]);
});
