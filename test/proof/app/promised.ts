import { defineApp, defineJob, defineSchedule } from "belfry";
import { timed, tries } from "./target.ts";

const effect = defineJob({ id: "promised", ...tries, ...timed });

/** Of an hour a fast window is 5.4 seconds: when all of its times miss, it burns. */
export const promised = {
  onTime: defineSchedule({
    id: "on-time",
    every: "1s",
    run: effect,
    objective: { onTime: "2s", share: 0.9, over: "1h" },
  }),
  ends: defineSchedule({
    id: "ends",
    every: "1s",
    run: effect,
    objective: { endsWithin: "3s", share: 0.9, over: "1h" },
  }),
};

export default [
  defineApp({
    name: "proof",
    jobs: [effect],
    schedules: Object.values(promised),
    lanes: { default: { batchSize: 10, concurrency: 2 } },
  }),
];
