import { defineApp, defineJob, defineLimit } from "belfry";
import { z } from "zod";
import { sharedRate } from "../points.ts";
import { tell, tries } from "./target.ts";

const target = defineLimit("target", { rate: { limit: sharedRate.limit, per: sharedRate.per } });
const more = { ...tries, payload: z.object({ n: z.number() }) };

/** Two kinds start by the limit, and the handlers of a third call by it. */
const starts = ["first", "second"].map((id) => defineJob({ id, ...more, limits: [target], run: () => {} }));
const calls = defineJob({
  id: "calls",
  ...more,
  async run(_, ctx) {
    await ctx.limit("target");
    await tell("start", ctx, String(Date.now()));
  },
});

export default [
  defineApp({ name: "proof", jobs: [...starts, calls], lanes: { default: { batchSize: 10, concurrency: 12 } } }),
];
