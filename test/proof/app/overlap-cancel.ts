import { setTimeout as wait } from "node:timers/promises";
import { defineApp, defineJob, defineSchedule } from "belfry";
import { quick, tell } from "./target.ts";

/** Ends at its signal, but not before it has gone on for a while: the next time must wait for that. */
const sync = defineJob({
  id: "sync",
  // It hears of its cancel at a heartbeat: 2 s.
  lease: "6s",
  timeout: "30s",
  async run(_, ctx) {
    await tell("start", ctx);
    await wait(8_000, undefined, { signal: ctx.signal }).catch(() => {});
    if (ctx.signal.aborted) await wait(Math.random() < 0.5 ? 700 : 2_000);
    await tell("stop", ctx);
    ctx.signal.throwIfAborted();
  },
});
const count = defineJob({
  id: "count",
  ...quick,
  async run(_, ctx) {
    await tell("start", ctx);
    await wait(1_200);
    await tell("stop", ctx);
  },
});

const schedules = [
  defineSchedule({ id: "newest", every: "3s", run: sync, overlap: "cancel-running", misfire: "skip" }),
  defineSchedule({ id: "lined", every: "2s", run: count, overlap: "queue-all", misfire: "skip" }),
];

export default [
  defineApp({ name: "proof", jobs: [sync, count], schedules, lanes: { default: { batchSize: 1, concurrency: 6 } } }),
];
