import { defineApp } from "../../src/define/define-app.ts";
import { defineJob } from "../../src/define/define-job.ts";
import { defineSchedule } from "../../src/define/define-schedule.ts";

const block = defineJob({
  id: "block",
  retry: { maxAttempts: 1 },
  run() {
    for (;;);
  },
});

const mate = defineJob({ id: "mate", run: (_, { signal }) => new Promise((resolve) => leave(signal, resolve)) });

/** Three seconds of the machine, or until a signal. */
function leave(signal: AbortSignal, resolve: (value: null) => void): void {
  const timer = setTimeout(() => resolve(null), 3_000);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve(null);
  });
}

/** Their messages leave together, so one worker gets them in one batch. */
const together = defineJob({
  id: "together",
  run: (_, ctx) =>
    ctx.tx(async () => {
      await ctx.enqueue(block, undefined, { key: "block" });
      for (const key of ["first", "second"]) await ctx.enqueue(mate, undefined, { key });
    }),
});

/** A handler that never lets go of the processor, beside two that are innocent. */
export default [
  defineApp({
    name: "blocking",
    jobs: [block, mate],
    schedules: [defineSchedule({ id: "together-once", every: "1m", run: together })],
  }),
];
