import { defineApp, defineGraph, defineJob } from "belfry";
import { z } from "zod";

const hello = defineJob({ id: "hello", run() {} });
const sendMail = defineJob({ id: "send-mail", payload: z.object({ to: z.email() }), run() {} });
const report = defineJob({ id: "report", concurrency: 2, run() {} });
/** Its first task fails and waits an hour, so that its run is open and there is something to cancel and to retry. */
const steps = defineGraph({
  id: "steps",
  version: 1,
  tasks(task) {
    const first = task("first", {
      retry: { maxAttempts: 3, backoff: "fixed", base: "1h" },
      run: () => Promise.reject(new Error("on purpose")),
    });
    task("second", { after: { first }, run: () => null });
    task.waitFor("approved", { after: { first }, payload: z.object({ by: z.string() }), timeout: "1d" });
  },
});

export default [defineApp({ name: "outside", jobs: [hello, sendMail, report, steps], schedules: [] })];
