import { existsSync } from "node:fs";
import { defineApp, defineJob, RetryLater } from "belfry";
import { z } from "zod";
import { circuitTimes } from "../points.ts";
import { quick, tell } from "./target.ts";

/** Calls a target that is down while a file exists. Without its circuit each job would call it again and again. */
const charge = defineJob({
  id: "charge",
  ...quick,
  retry: { maxAttempts: 20, backoff: "fixed", base: "300ms" },
  circuit: { on: ["HTTP_5xx"], ...circuitTimes },
  payload: z.object({ n: z.number(), down: z.string() }),
  async run({ n, down }, ctx) {
    const isDown = existsSync(down);
    await tell("start", ctx, `${n} ${isDown ? "down" : "up"}`);
    if (isDown) throw new RetryLater("the target is down", { code: "HTTP_503" });
  },
});

export default [defineApp({ name: "proof", jobs: [charge], lanes: { default: { batchSize: 10, concurrency: 4 } } })];
