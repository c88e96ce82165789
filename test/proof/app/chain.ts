import { defineApp, defineGraph, defineJob, defineSchedule, PermanentError } from "belfry";
import { z } from "zod";
import { tell, tries } from "./target.ts";

const second = z.object({ n: z.number() });
const secondOf = ({ scheduledFor }: { readonly scheduledFor: Date }) => ({ n: scheduledFor.getTime() / 1_000 });

/** Of every fifth second the run fails. */
const bill = defineGraph({
  id: "bill",
  version: 1,
  input: second,
  key: ({ n }) => String(n),
  tasks(task) {
    const first = task("first", { ...tries, run: () => {} });
    task("second", {
      ...tries,
      after: { first },
      run: ({ input: { n } }) => {
        if (n % 5 === 0) throw new PermanentError("no", { code: "NO" });
      },
    });
  },
});

const close = defineJob({
  id: "close",
  ...tries,
  payload: second,
  async run({ n }, ctx) {
    await tell("effect", ctx, `close ${n}`);
  },
});

const schedules = [
  defineSchedule({ id: "bills", every: "1s", run: bill, payload: secondOf, misfire: "all" }),
  defineSchedule({ id: "closings", after: { schedule: "bills", within: "8s" }, run: close, payload: secondOf }),
];

export default [defineApp({ name: "proof", jobs: [bill, close], schedules })];
