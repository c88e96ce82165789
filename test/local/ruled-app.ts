import { defineApp } from "../../src/core/define/define-app.ts";
import { defineJob } from "../../src/core/define/define-job.ts";
import { defineSchedule } from "../../src/core/define/define-schedule.ts";

const sweep = defineJob({ id: "sweep", run: async () => ({ swept: true }) });

/** One schedule with a rule of its own, for a whole local system. */
export default [
  defineApp({
    name: "ruled",
    schedules: [defineSchedule({ id: "sweep-each-minute", every: "1m", run: sweep, launch: "rule" })],
  }),
];
