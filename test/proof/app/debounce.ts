import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { debounceTimes } from "../points.ts";
import { tell, tries } from "./target.ts";

const reindex = defineJob({
  id: "reindex",
  ...tries,
  payload: z.object({ doc: z.string(), n: z.number() }),
  debounce: { key: ({ doc }) => doc, for: debounceTimes.for, max: debounceTimes.max },
  run: ({ n }, ctx) => tell("start", ctx, String(n)),
});

export default [defineApp({ name: "proof", jobs: [reindex], lanes: { default: { batchSize: 10, concurrency: 4 } } })];
