import { defineApp, defineGraph, defineJob, PermanentError } from "belfry";
import { z } from "zod";
import { tell, tries } from "./target.ts";

const close = defineJob({
  id: "close",
  ...tries,
  payload: z.object({ n: z.number(), outcome: z.string() }),
  async run({ n }, ctx) {
    await tell("effect", ctx, `close ${n}`);
  },
});

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
