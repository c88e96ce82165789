import { expect, test } from "vitest";
import { importsOf, readSource, sourceFiles } from "./imports.ts";
import { violation } from "./rules.ts";

const all = sourceFiles().flatMap((file) => importsOf(file, readSource(file)));
const judge = (file: string, text: string): readonly (string | null)[] => importsOf(file, text).map(violation);

test("every import of the tree is one its folder may have", () => {
  expect(all.length).toBeGreaterThan(200);
  expect(all.map(violation).filter((found) => found !== null)).toEqual([]);
});

test.each([
  ["src/schedule/tick.ts", 'import { readFile } from "node:fs";'],
  ["src/schedule/tick.ts", 'import { z } from "zod";'],
  ["src/schedule/tick.ts", 'export * from "../outside/clock.ts";'],
  ["src/schedule/tick.ts", 'import {\n  type A,\n  b,\n} from "@standard-schema/spec";'],
  ["src/admission/slots.ts", 'import { statement } from "../postgres/statement.ts";'],
  ["src/aws/queue.ts", 'import { createApi } from "../api/api.ts";'],
  ["src/api/jobs.ts", 'import "../local/main.ts";'],
  ["src/cli/commands/jobs.ts", 'import { connect } from "../../postgres/connect.ts";'],
  ["src/stage/stages.ts", 'import { workerLimits } from "../run/worker-limits.ts";'],
  ["src/console/http.ts", 'import { jobJson } from "../api/view.ts";'],
  ["src/console/http.ts", 'import type { Job } from "../machine/job.ts";'],
  ["src/console/app.tsx", 'import { readFile } from "node:fs";'],
  ["src/stage/topology.ts", 'import { Stack } from "aws-cdk-lib";'],
  ["src/local/main.ts", 'import { until } from "../../test/support/until.ts";'],
  ["jobs/hello.ts", 'import { createWorker } from "../src/run/worker.ts";'],
  ["examples/quiz/app.ts", 'import { retry } from "../batch-scheduler/use-case.ts";'],
  ["examples/batch-scheduler/app.ts", 'import { outboxReader } from "./reader.ts";'],
  ["examples/batch-scheduler/app.ts", 'import type { ReadPort } from "./ports.ts";'],
  ["examples/batch-scheduler/items.ts", 'import { Pool } from "pg";'],
  ["examples/batch-scheduler/writer.ts", 'import { beginTurn } from "./use-case.ts";'],
  ["infra/stack.ts", 'const { connect } = await import("../src/postgres/connect.ts");'],
  ["infra/stack.ts", 'import { Pool } from "pg";'],
  ["somewhere/new.ts", 'import "node:fs";'],
])("a planted import in %s is found: %s", (file, text) => {
  const found = judge(file, text);
  expect(found).toHaveLength(1);
  expect(found[0]).not.toBeNull();
});

test.each([
  ["src/define/define-job.ts", 'import type { StandardSchemaV1 } from "@standard-schema/spec";'],
  ["src/define/define-job.ts", 'import { type StandardSchemaV1 } from "@standard-schema/spec";'],
  ["src/console/http.ts", 'import type { jobJson } from "../api/view.ts";'],
  ["jobs/hello.ts", 'import { defineJob } from "belfry";\nimport { z } from "zod";'],
  ["examples/quiz/app.ts", 'import { mailer } from "belfry/smtp";\nimport { send } from "./push.ts";'],
  ["functions/worker.ts", 'import { openRuntime } from "../src/compose/runtime.ts";'],
])("an allowed import in %s is not: %s", (file, text) => {
  expect(judge(file, text).filter((found) => found !== null)).toEqual([]);
});

test("an import in a comment is none, and the line of the next one is right", () => {
  const text = '// import { a } from "pg";\n/*\nimport "pg";\n*/\nimport "node:fs"; // "pg"';
  expect(importsOf("src/machine/a.ts", text)).toMatchObject([{ target: "node:fs", line: 5 }]);
});
