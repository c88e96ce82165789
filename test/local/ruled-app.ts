import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";

const sweep = defineJob({ id: "sweep", run: async () => ({ swept: true }) });

/** One schedule with a rule of its own, for a whole local system. */
export default [
  defineApp({
    name: "ruled",
    schedules: [defineSchedule({ id: "sweep-each-minute", every: "1m", run: sweep, launch: "rule" })],
  }),
];
