import { defineApp, defineJob, defineSchedule } from "belfry";
import { z } from "zod";
import { quick, tell } from "./target.ts";

/** Every second, so that a short proof sees many nominal times. */
const beat = defineJob({
  id: "beat",
  retry: { maxAttempts: 5, backoff: "fixed", base: "200ms" },
  ...quick,
  async run(_, ctx) {
    await tell("effect", ctx, ctx.scheduledFor.toISOString());
  },
});

/** Due later than the dispatch window when it is enqueued, so that only the relay can hand it off. */
const later = defineJob({
  id: "later",
  ...quick,
  payload: z.object({ n: z.number() }),
  async run({ n }, ctx) {
    await tell("effect", ctx, String(n));
  },
});

const everySecond = defineSchedule({ id: "every-second", every: "1s", run: beat, misfire: "all" });

export default [defineApp({ name: "proof", jobs: [beat, later], schedules: [everySecond] })];
