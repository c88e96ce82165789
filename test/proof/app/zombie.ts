import { defineApp, defineJob, type Context, type Tx } from "belfry";
import { z } from "zod";
import { opened, quick, tell } from "./target.ts";

const payload = z.object({
  n: z.number(),
  /** Where the first try falls asleep. */
  asleep: z.enum(["before", "after"]),
  /** The second try waits until this file exists; the zombie wakes up in between. */
  gate: z.string().nullable(),
});
type Payload = z.output<typeof payload>;

const settings = {
  ...quick,
  timeout: "2m",
  retry: { maxAttempts: 4, backoff: "fixed", base: "100ms" },
} as const;

/** Written by the try that completes the job: a zombie's child would be seen. */
const child = defineJob({ id: "child", ...settings, payload: z.object({ n: z.number() }), async run() {} });

/** Its effect is outside; its child is written with the settle. */
const outside = defineJob({
  id: "outside",
  ...settings,
  payload,
  async run(input, ctx) {
    await effect(input, ctx);
    await ctx.enqueue(child, { n: input.n }, { key: `child:${ctx.jobId}:${ctx.attempt}` });
  },
});

/** Its effect and its child are in its own transaction. */
const inside = defineJob({
  id: "inside",
  ...settings,
  payload,
  async run(input, ctx) {
    await ctx.tx(async (tx) => {
      await note(tx, input.n, ctx);
      await ctx.enqueue(child, { n: input.n }, { key: `child:${ctx.jobId}:${ctx.attempt}`, tx });
      await effect(input, ctx);
    });
  },
});

async function effect({ n, asleep, gate }: Payload, ctx: Context): Promise<void> {
  if (ctx.attempt === 1 && asleep === "before") sleep();
  if (ctx.attempt > 1 && gate !== null) await opened(gate);
  await tell("effect", ctx, String(n));
  if (ctx.attempt === 1 && asleep === "after") sleep();
}

/** Stops the whole process, as a paused machine does: it neither works nor beats until SIGCONT. */
const sleep = (): void => void process.kill(process.pid, "SIGSTOP");

const note = (tx: Tx, n: number, ctx: Context) =>
  tx.query("insert into proof.note (n, job_id, attempt) values ($1, $2, $3)", [n, ctx.jobId, ctx.attempt]);

export default [defineApp({ name: "proof", jobs: [child, outside, inside] })];
