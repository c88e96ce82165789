import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { debounceTimes } from "../points.ts";
import { quick, tell } from "./target.ts";

const reindex = defineJob({
  id: "reindex",
  ...quick,
  retry: { maxAttempts: 20, backoff: "fixed", base: "100ms" },
  payload: z.object({ doc: z.string(), n: z.number() }),
  debounce: { key: ({ doc }) => doc, for: debounceTimes.for, max: debounceTimes.max },
  run: ({ n }, ctx) => tell("start", ctx, String(n)),
});

export default [defineApp({ name: "proof", jobs: [reindex], lanes: { default: { batchSize: 10, concurrency: 4 } } })];
