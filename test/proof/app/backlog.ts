import { defineApp, defineJob } from "belfry";
import { z } from "zod";

/** Nothing but what the system itself costs. */
const empty = defineJob({ id: "empty", payload: z.object({ n: z.number() }), run() {} });

export default [defineApp({ name: "proof", jobs: [empty], lanes: { default: { batchSize: 10, concurrency: 2 } } })];
