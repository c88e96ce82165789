import { defineApp, defineJob } from "belfry";
import { z } from "zod";
import { quick, tell } from "./target.ts";

const payload = z.object({ n: z.number() });
const oneTry = { maxAttempts: 1 } as const;

const pause = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });

/** Needs two more seconds when it is asked to stop, and takes them. */
const finishes = defineJob({
  id: "finishes",
  ...quick,
  retry: oneTry,
  payload,
  async run({ n }, ctx) {
    await tell("start", ctx, String(n));
    await pause(3_000);
    await tell("effect", ctx, String(n));
  },
});

/** The first time one stops when its signal says so, and the other never looks at it; the second time they are quick. */
const long = (["obeys", "ignores"] as const).map((id) =>
  defineJob({
    id,
    ...quick,
    timeout: "2m",
    retry: oneTry,
    payload,
    async run({ n }, ctx) {
      await tell("start", ctx, String(n));
      if (ctx.attempt === 1) await pause(100_000, id === "obeys" ? ctx.signal : undefined);
      await tell("effect", ctx, String(n));
    },
  }),
);

export default [defineApp({ name: "proof", jobs: [finishes, ...long] })];
