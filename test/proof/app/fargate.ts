import { setTimeout as wait } from "node:timers/promises";
import { defineApp, defineJob, type Context } from "belfry";
import { z } from "zod";
import { opened, tell } from "./target.ts";

const payload = z.object({
  n: z.number(),
  /** What the first try does: waits and obeys, waits and does not listen, or ends its process. */
  first: z.enum(["obeys", "ignores", "exits"]),
  /** A later try waits until this file exists. */
  gate: z.string().nullable(),
});
type Payload = z.output<typeof payload>;

async function run({ n, first, gate }: Payload, ctx: Context): Promise<void> {
  if (ctx.attempt === 1) {
    await tell("start", ctx, String(n));
    if (first === "exits") process.exit(3);
    for (; ; await wait(20)) {
      // One that does not listen waits for ever.
      if (first === "obeys") ctx.signal.throwIfAborted();
    }
  }
  if (gate !== null) {
    await tell("start", ctx, String(n));
    await opened(gate);
  }
  await tell("effect", ctx, String(n));
}

const settings = {
  runOn: "fargate",
  timeout: "10m",
  retry: { maxAttempts: 4, backoff: "fixed", base: "100ms" },
  payload,
  run,
} as const;

/** Its lease is long: nothing but the event of its task gets it going again soon. */
const byEvent = defineJob({ id: "by-event", ...settings, lease: "60s" });
/** Its event is lost: the lease is what is left. */
const byLease = defineJob({ id: "by-lease", ...settings, lease: "3s" });

export default [defineApp({ name: "proof", jobs: [byEvent, byLease], lanes: { default: { batchSize: 1 } } })];
