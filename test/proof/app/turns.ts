import { setTimeout as wait } from "node:timers/promises";
import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { turnSizes } from "../points.ts";
import { tries, without } from "./target.ts";

const payload = z.object({ customer: z.string(), weight: z.number(), ms: z.number() });
const fairness = without("fairness")
  ? {}
  : {
      fairness: {
        key: ({ customer }: z.infer<typeof payload>) => customer,
        weight: ({ weight }: z.infer<typeof payload>) => weight,
      },
    };

const shared = defineJob({ id: "shared", ...tries, ...fairness, payload, run: ({ ms }) => wait(ms) });
const ranked = (["high", "normal", "low"] as const).map((priority) =>
  defineJob({ id: priority, ...tries, priority, run: () => wait(20) }),
);

export default [
  defineApp({
    name: "proof",
    jobs: [shared, ...ranked],
    lanes: { default: { batchSize: 4, concurrency: 4, aging: turnSizes.aging } },
  }),
];
