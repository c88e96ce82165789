import { type Context, defineApp, defineJob } from "belfry";
import { z } from "zod";
import { batchSizes } from "../points.ts";
import { tell, tries } from "./target.ts";

/** Every tenth is rejected at its first attempt. */
const index = defineJob({
  id: "index",
  ...tries,
  payload: z.object({ tenant: z.string(), n: z.number() }),
  batch: { max: batchSizes.max, wait: batchSizes.wait, key: ({ tenant }) => tenant },
  runBatch: async (jobs) => {
    const call = `${process.pid}-${jobs[0]?.id}-${jobs[0]?.attempt}`;
    return await Promise.allSettled(
      jobs.map(async ({ id, attempt, payload }) => {
        const ctx = { jobId: id, attempt, effectKey: (name: string) => `${id}:${attempt}:${name}` };
        await tell("start", ctx as unknown as Context, `${call} ${payload.tenant}`);
        if (attempt === 1 && payload.n % 10 === 0) throw new Error("rejected at first");
      }),
    );
  },
});

export default [defineApp({ name: "proof", jobs: [index], lanes: { default: { batchSize: 10, concurrency: 4 } } })];
