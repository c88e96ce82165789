import { defineApp, defineJob } from "belfry";
import { z } from "zod";

/** Its row is all that it leaves: a large one, so that the database needs space. */
const noted = defineJob({
  id: "noted",
  retry: { maxAttempts: 20, base: "200ms" },
  payload: z.object({ n: z.number(), pad: z.string() }),
  run: () => {},
});

export default [defineApp({ name: "proof", jobs: [noted], lanes: { default: { batchSize: 10, concurrency: 2 } } })];
