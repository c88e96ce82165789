import { defineApp, defineJob, defineSchedule } from "belfry";
import { tell } from "../test/proof/app/target.ts";

/** Fires a minute: as many schedules, each once a minute, spread evenly. */
export const firesAMinute = 1_000;

const beat = defineJob({ id: "beat", run: (_, ctx) => tell("effect", ctx) });

const schedules = Array.from({ length: firesAMinute }, (_, n) =>
  defineSchedule({
    id: `beat-${n}`,
    every: "1m",
    startAt: `2026-01-01T00:00:${((n * 60) / firesAMinute).toFixed(3).padStart(6, "0")}Z` as "2026-01-01T00:00:00Z",
    run: beat,
  }),
);

export default [
  defineApp({ name: "bench", jobs: [beat], schedules, lanes: { default: { batchSize: 10, concurrency: 3 } } }),
];
