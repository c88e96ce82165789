import { existsSync } from "node:fs";
import { defineApp, defineJob, PermanentError, RetryLater } from "belfry";
import { z } from "zod";
import { quick, tell } from "./target.ts";

const payload = z.object({ n: z.number(), down: z.string() });
const lane = { batchSize: 10, concurrency: 4 };

/** Calls a target that is down while a file exists. Without its budget each job would call it three times a second. */
const charge = defineJob({
  id: "charge",
  ...quick,
  retry: { maxAttempts: 500, backoff: "fixed", base: "300ms", budget: 0.2 },
  payload,
  async run({ n, down }, ctx) {
    if (!existsSync(down)) return;
    await tell("start", ctx, String(n));
    throw new RetryLater("the target is down", { code: "HTTP_503" });
  },
});

/** Fails for good while a file exists, and waits for a redrive. */
const mail = defineJob({
  id: "mail",
  ...quick,
  payload,
  async run({ n, down }, ctx) {
    await tell("start", ctx, String(n));
    if (existsSync(down)) throw new PermanentError("the key was refused", { code: "HTTP_401" });
  },
});

export default [defineApp({ name: "proof", jobs: [charge, mail], lanes: { default: lane } })];
