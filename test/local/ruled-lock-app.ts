import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";

/** Never ends in its first attempt; its lease is longer than any test. */
const locked = defineJob({
  id: "locked",
  timeout: "14m",
  lease: "12h",
  lock: { name: "scheduler:locked" },
  run: (_, ctx) => (ctx.jobId === "1" && ctx.attempt === 1 ? new Promise(() => {}) : null),
});

export default [
  defineApp({
    name: "ruled-lock",
    schedules: [defineSchedule({ id: "locked-often", every: "5m", run: locked, overlap: "skip", launch: "rule" })],
  }),
];
