import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";

/** Wrong in three ways: a lane that is not there, a batch that no queue gives, and more workers than the database has room for. */
export default [
  defineApp({
    name: "too-much",
    jobs: [defineJob({ id: "lost", lane: "nowhere", run: () => {} })],
    lanes: { big: { concurrency: 900, batchSize: 100_000 } },
  }),
];
