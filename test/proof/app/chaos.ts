import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { tell } from "./target.ts";

/** Long enough that no worker is thought dead on a busy machine: what is rescued here was lost by the queue. */
const settings = { lease: "3m", retry: { maxAttempts: 4, backoff: "fixed", base: "5s" } } as const;

/** One outside call; every fifth fails once, so that retries are sent too. */
const calls = defineJob({
  id: "calls",
  ...settings,
  payload: z.object({ n: z.number() }),
  async run({ n }, ctx) {
    if (n % 5 === 0 && ctx.attempt === 1) throw new Error("the first try fails");
    await tell("effect", ctx, String(n));
  },
});

export default [defineApp({ name: "proof", jobs: [calls], lanes: { default: { batchSize: 10, concurrency: 2 } } })];
