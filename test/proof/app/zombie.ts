import { defineApp, defineJob, type Tx } from "belfry";
import { z } from "zod";
import { quick, tell } from "./target.ts";

const settings = {
  ...quick,
  timeout: "2m",
  retry: { maxAttempts: 4, backoff: "fixed", base: "100ms" },
  payload: z.object({ n: z.number() }),
} as const;

/** Written by whoever completes the job; a zombie's child would be seen. */
const child = defineJob({ id: "child", ...settings, async run() {} });

/** Its effect is outside; its child is written with the settle. */
const outside = defineJob({
  id: "outside",
  ...settings,
  async run({ n }, ctx) {
    await tell("effect", ctx, String(n));
    await ctx.enqueue(child, { n }, { key: `child:${ctx.jobId}:${ctx.attempt}` });
  },
});

/** Its effect and its child are in its own transaction. */
const inside = defineJob({
  id: "inside",
  ...settings,
  async run({ n }, ctx) {
    await ctx.tx(async (tx) => {
      await note(tx, n, ctx.attempt);
      await ctx.enqueue(child, { n }, { key: `child:${ctx.jobId}:${ctx.attempt}`, tx });
      await tell("effect", ctx, String(n));
    });
  },
});

const note = (tx: Tx, n: number, attempt: number) =>
  tx.query("insert into proof.note (n, attempt, pid) values ($1, $2, $3)", [n, attempt, process.pid]);

export default [
  defineApp({ name: "proof", jobs: [child, outside, inside], lanes: { default: { batchSize: 1, concurrency: 2 } } }),
];
