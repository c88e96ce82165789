import { defineApp, defineJob, defineSchedule } from "belfry";
import { quick, tell } from "./target.ts";

const effect = defineJob({
  id: "promised",
  retry: { maxAttempts: 5, backoff: "fixed", base: "200ms" },
  ...quick,
  run: (_, ctx) => tell("effect", ctx, ctx.scheduledFor.toISOString()),
});

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
