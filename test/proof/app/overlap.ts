import { setTimeout as wait } from "node:timers/promises";
import { defineApp, defineJob, defineSchedule } from "belfry";
import { tell } from "./target.ts";

/** Takes longer than its schedule's interval. Its lease outlasts the hours that the case lets pass. */
const slow = defineJob({
  id: "slow",
  lease: "12h",
  async run(_, ctx) {
    await tell("start", ctx);
    await wait(3_000);
    await tell("stop", ctx);
  },
});

const misfire = { all: { pace: "1s", maxCount: 3 } } as const;
const schedules = (["skip", "queue-one"] as const).map((overlap) =>
  defineSchedule({ id: `no-${overlap}`, every: "2s", run: slow, overlap, misfire }),
);

export default [
  defineApp({ name: "proof", jobs: [slow], schedules, lanes: { default: { batchSize: 1, concurrency: 8 } } }),
];
