import { defineApp, defineGraph, defineJob, PermanentError } from "belfry";
import { z } from "zod";
import { quick, tell } from "./target.ts";

const close = defineJob({
  id: "close",
  ...quick,
  retry: { maxAttempts: 10, backoff: "fixed", base: "100ms" },
  payload: z.object({ n: z.number(), outcome: z.string() }),
  async run({ n }, ctx) {
    await tell("effect", ctx, `close ${n}`);
  },
});

const tries = { ...quick, retry: { maxAttempts: 10, backoff: "fixed", base: "100ms" } } as const;

/** Two bills, then the day is closed: of every third run one bill fails until it is resumed. */
const billing = (on: "success" | "end") =>
  defineGraph({
    id: `billing-${on}`,
    version: 1,
    input: z.object({ n: z.number() }),
    key: ({ n }) => String(n),
    tasks(task) {
      task("first", { ...tries, run: () => {} });
      task("second", {
        ...tries,
        run({ input: { n } }, ctx) {
          if (n % 3 === 0 && ctx.failures === 0 && ctx.attempt === 1) throw new PermanentError("no", { code: "NO" });
        },
      });
    },
    then: close,
    thenPayload: ({ input: { n }, outcome }) => ({ n, outcome }),
    on,
  });

export default [defineApp({ name: "proof", jobs: [billing("success"), billing("end"), close] })];
