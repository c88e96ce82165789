import { defineApp, defineJob, defineSchedule } from "belfry";
import { counted, quick, timed, tries } from "./target.ts";

/** Every second, so that a short proof sees many nominal times. */
const beat = defineJob({ id: "beat", ...tries, ...timed });

/** Due later than the dispatch window when it is enqueued, so that only the relay can hand it off. */
const later = defineJob({ id: "later", ...quick, ...counted });

const everySecond = defineSchedule({ id: "every-second", every: "1s", run: beat, misfire: "all" });

export default [defineApp({ name: "proof", jobs: [beat, later], schedules: [everySecond] })];
