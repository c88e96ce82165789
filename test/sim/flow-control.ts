import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Context, Job } from "../../src/define/context.ts";
import { defineJob } from "../../src/define/define-job.ts";
import type { FlowRules } from "../invariants/flow-control.ts";
import type { Payload, Surroundings } from "./app.ts";

/** What the definitions below say, as the invariants read it. */
export const flowRules: FlowRules = {
  bursts: { kind: "burst", forMs: 3_000, maxMs: 8_000 },
  rate: { kind: "rated", limit: 2, perMs: 5_000 },
  batch: { kind: "batched", max: 3 },
  circuit: { kind: "calling" },
  budget: { kind: "calling", everyMs: 6_000, longerMs: 16_000 },
};

interface Made {
  readonly payload: StandardSchemaV1<Payload, Payload>;
  readonly key: (payload: Payload) => string;
  readonly run: (payload: Payload, ctx: Context) => Promise<void>;
}

/** Kinds whose starts are bounded by more than caps. */
export function flowControlled(world: Surroundings, { run, key, ...quick }: Made): Job<Payload>[] {
  return [
    defineJob({ id: "burst", ...quick, debounce: { key, for: "3s", max: "8s" }, run }),
    defineJob({ id: "rated", ...quick, rate: { limit: 2, per: "5s" }, run }),
    defineJob({
      id: "batched",
      ...quick,
      batch: { max: 3, wait: "2s", key },
      async runBatch(jobs, ctx) {
        await world.batch(jobs.map(({ id, payload }) => ({ jobId: id, key: key(payload) })));
        await world.sleep(jobs[0]?.payload.workMs ?? 0, ctx.signal);
        ctx.signal.throwIfAborted();
      },
    }),
    defineJob({
      id: "calling",
      ...quick,
      retry: { maxAttempts: 20, base: "1s", cap: "2s", budget: 0.2 },
      circuit: { on: ["DOWN"], over: "30s", minimum: 3, pause: "5s" },
      async run(payload, ctx) {
        if (world.isDown()) throw Object.assign(new Error("the target is down"), { code: "DOWN" });
        await run(payload, ctx);
      },
    }),
  ];
}
