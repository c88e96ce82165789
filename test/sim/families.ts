import type { Context, Job } from "../../src/define/context.ts";
import { defineJob } from "../../src/define/define-job.ts";
import type { Made, Payload, Surroundings } from "./app.ts";

const from = (ctx: Context): Pick<Payload, "parent" | "parentAttempt"> => ({
  parent: ctx.jobId,
  parentAttempt: ctx.attempt,
});

/** Kinds that enqueue others. */
export function families(world: Surroundings, { run, ...quick }: Made): Job<Payload>[] {
  const child = defineJob({ id: "grandchild", ...quick, run });
  return [
    child,
    defineJob({
      id: "parent",
      ...quick,
      run: async (payload, ctx) => {
        for (let n = 0; n < 2; n += 1) await ctx.enqueue(child, { ...from(ctx), workMs: payload.workMs });
        await world.sleep(payload.workMs, ctx.signal);
      },
    }),
    defineJob({
      id: "transfer",
      ...quick,
      run: async (payload, ctx) => {
        await world.sleep(payload.workMs, ctx.signal);
        await ctx.tx(async (tx) => {
          await tx.query("insert into effect (job_id, attempt) values ($1, $2)", [ctx.jobId, ctx.attempt]);
          await ctx.enqueue(child, { ...from(ctx), workMs: 50 });
          await world.sleep(payload.workMs % 400, ctx.signal);
        });
      },
    }),
  ];
}

/** Kinds that kill their process, or go on when they should end. */
export function broken(world: Surroundings, { run: _run, ...quick }: Made): Job<Payload>[] {
  return [
    defineJob({
      id: "poison",
      ...quick,
      run: async (payload, ctx) => {
        await world.sleep(payload.workMs, ctx.signal);
        if (ctx.attempt <= (payload.kills ?? 0)) await world.die();
      },
    }),
    /** Ignores its signal: the worker leaves it behind, and the attempt's number fences what it writes. */
    defineJob({
      id: "slow",
      ...quick,
      timeout: "2s",
      retry: { maxAttempts: 2, base: "1s" },
      run: async (payload, ctx) => {
        await world.sleep(ctx.failures === 0 ? payload.workMs * 4 : 100);
        await world.target({ key: ctx.effectKey("call"), jobId: ctx.jobId, attempt: ctx.attempt });
      },
    }),
  ];
}
