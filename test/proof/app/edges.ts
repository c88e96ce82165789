import { setTimeout as wait } from "node:timers/promises";
import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { tell } from "./target.ts";

export const seats = 2;

/** Two at once: more arrive than that. */
const seated = defineJob({
  id: "seated",
  lane: "seated",
  concurrency: seats,
  payload: z.object({ n: z.number() }),
  async run(_, ctx) {
    await wait(60);
    await tell("effect", ctx);
  },
});

export default [defineApp({ name: "proof", jobs: [seated], lanes: { seated: { batchSize: 2, concurrency: 6 } } })];
