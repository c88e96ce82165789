import { expect, test } from "vitest";
import { defineJob, definitionOf } from "../../src/define/define-job.ts";
import { describe as line } from "../../src/define/problem.ts";

const runBatch = () => {};

test.each<[object, readonly string[]]>([
  [{ batch: { max: 2, wait: "5m" }, runBatch }, []],
  [{ runBatch }, ['batch (missing) must be an object beside runBatch; write { max: 100, wait: "2s" }']],
  [{ batch: {}, run: () => {} }, ["batch {} needs runBatch; write runBatch(jobs, ctx) and no run, or leave batch out"]],
  [{ batch: {}, runBatch, run: () => {} }, ['run "(function)" stands beside runBatch; keep one of them']],
  [
    { batch: { max: 1, wait: "6m", key: "tenant", size: 3 }, runBatch },
    [
      'batch.size "(a value)" is not known; use max, wait, key',
      'batch.key "tenant" must be a function of the payload; write (payload) => payload.tenant',
      "batch.max 1 must be a whole number from 2 to 1000; change it, or leave it out for the default",
      'batch.wait "6m" must be at most 5m; use a shorter one',
    ],
  ],
  [
    { batch: {}, runBatch, runOn: "fargate" },
    ['runOn "fargate" starts a task for each job, and a batch is one call; leave it out'],
  ],
  [
    { batch: {}, runBatch, retry: { budget: 0.2 } },
    ["retry.budget 0.2 gives each job a time of its own, and a call has many; leave it out"],
  ],
])("a kind that is run in batches may be %j, or has its problems", (options, problems) => {
  const job = defineJob({ id: "index", ...options } as never);
  expect(definitionOf(job).problems.map(line)).toEqual(problems.map((problem) => `job "index": ${problem}`));
});
