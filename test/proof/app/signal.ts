import { defineApp, defineGraph } from "belfry";
import { z } from "zod";
import { tries } from "./target.ts";

/** Asks for a while, waits for an answer, and keeps it as its result. */
const payout = defineGraph({
  id: "payout",
  version: 1,
  input: z.object({ n: z.number() }),
  key: ({ n }) => String(n),
  tasks(task) {
    const ask = task("ask", { ...tries, run: () => new Promise<void>((resolve) => setTimeout(resolve, 300)) });
    const approved = task.waitFor("approved", {
      after: { ask },
      payload: z.object({ by: z.string() }),
      timeout: "10m",
    });
    task("pay", { ...tries, after: { approved }, run: ({ approved: { by } }) => by });
  },
});

export default [defineApp({ name: "proof", jobs: [payout] })];
