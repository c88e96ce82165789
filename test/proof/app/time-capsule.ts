import { defineApp, defineJob, defineSchedule } from "belfry";
import app from "../../../examples/time-capsule/app.ts";

/** What runs beside the capsules in a lane of its own: its lateness shows whether anybody else suffers. */
const bystander = defineJob({ id: "bystander", lane: "beside", run() {} });
const often = defineSchedule({ id: "bystander-often", every: "1s", run: bystander });

export default [app, defineApp({ name: "beside", schedules: [often], lanes: { beside: {} } })];
