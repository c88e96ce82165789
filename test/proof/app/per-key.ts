import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { perKeySizes } from "../points.ts";
import { tries, without } from "./target.ts";

/** The ledger of moves says how many ran at once: the handler only takes its time. */
const byCustomer = defineJob({
  id: "by-customer",
  ...tries,
  concurrency: without("per-key")
    ? { max: perKeySizes.total }
    : { max: perKeySizes.total, perKey: perKeySizes.each, key: ({ customer }) => customer },
  payload: z.object({ n: z.number(), customer: z.string() }),
  run: ({ n }) => new Promise<void>((resolve) => setTimeout(resolve, n % 8)),
});

export default [
  defineApp({ name: "proof", jobs: [byCustomer], lanes: { default: { batchSize: 10, concurrency: 12 } } }),
];
