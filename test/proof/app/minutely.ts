import { defineApp, defineJob, defineSchedule } from "belfry";
import { timed, tries } from "./target.ts";

/** Schedules of every minute, by what follows a missed time. */
export const groups = {
  latest: { count: 100, misfire: "latest" },
  capped: { count: 90, misfire: { all: { pace: "2s", maxCount: 12 } } },
  whole: { count: 10, misfire: { all: { pace: "100ms" } } },
  skip: { count: 20, misfire: "skip" },
} as const;

const sweep = defineJob({ id: "sweep", ...tries, ...timed });

const schedules = Object.entries(groups).flatMap(([name, { count, misfire }]) =>
  Array.from({ length: count }, (_, n) =>
    defineSchedule({ id: `${name}-${n}`, cron: "* * * * *", timezone: "UTC", run: sweep, misfire }),
  ),
);

export default [
  defineApp({ name: "proof", jobs: [sweep], schedules, lanes: { default: { batchSize: 10, concurrency: 2 } } }),
];
