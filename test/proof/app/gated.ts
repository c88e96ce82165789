import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { opened, tell } from "./target.ts";

/** Ends well as soon as its gate is there. It may be tried once: a second run, or a failure, breaks a promise. */
const gated = defineJob({
  id: "gated",
  lane: "gated",
  timeout: "4m",
  retry: { maxAttempts: 1 },
  payload: z.object({ gate: z.string() }),
  async run({ gate }, ctx) {
    await tell("start", ctx);
    await opened(gate);
    await tell("effect", ctx);
  },
});

export default [defineApp({ name: "proof", jobs: [gated], lanes: { gated: { batchSize: 10, concurrency: 30 } } })];
