import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { capSize } from "../points.ts";
import { opened, tell, tries, without } from "./target.ts";

/** Reports to the target when it starts and when it stops: the target judges how many ran at once. */
const capped = defineJob({
  id: "capped",
  ...tries,
  ...(without("cap") ? {} : { concurrency: capSize }),
  payload: z.object({ n: z.number(), gate: z.string() }),
  async run({ n, gate }, ctx) {
    await tell("start", ctx, String(n));
    await opened(gate);
    // Slots become free one by one, so that several workers want each of them.
    await new Promise((resolve) => setTimeout(resolve, n % 8));
    await tell("stop", ctx, String(n));
  },
});

export default [defineApp({ name: "proof", jobs: [capped], lanes: { default: { batchSize: 10, concurrency: 12 } } })];
