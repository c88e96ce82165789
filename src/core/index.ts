/** What a definition may import from `belfry`. Everything else in `src/` is the inside. */
export { defineApp } from "./define/define-app.ts";
export { defineDataGraph } from "./define/define-data-graph.ts";
export { defineFanOut } from "./define/define-fan-out.ts";
export { defineGraph } from "./define/define-graph.ts";
export { defineJob } from "./define/define-job.ts";
export { aws, defineSchedule } from "./define/define-schedule.ts";
export { defineSweep } from "./define/define-sweep.ts";
export { AmbiguousError, httpError, InvalidPayload, KeyConflict, PermanentError, RetryLater } from "./define/errors.ts";
export { sql } from "./define/query.ts";

export type { AppOptions } from "./define/define-app.ts";
export type { DataGiven, DataGraphOptions, DataTask } from "./define/define-data-graph.ts";
export type { FanOutOptions } from "./define/define-fan-out.ts";
export type { Moment } from "./define/moment.ts";
export type { SweepOptions } from "./define/define-sweep.ts";
export type { BranchOptions, DeclareTask, GraphOptions, Handle, Outputs, TaskOptions } from "./define/define-graph.ts";
export type { JoinRule } from "./job/join.ts";
export type { JobLimits, JobOptions, Retry } from "./define/define-job.ts";
export type { AwsAt, AwsCron, AwsRate, Cron, ScheduleOptions, When } from "./define/define-schedule.ts";
export type { BatchResult, Context, Duration, Enqueued, EnqueueOptions, Job, SettledJob } from "./define/context.ts";
export type { AppDefinition, LaneDefinition, Occurrence, ScheduleDefinition } from "./define/definition.ts";
export type { Inside, Routes } from "./define/routes.ts";
export type { AttemptView, JobId, JobView, Json } from "./job/job.ts";
export type { Log, MetricUnit, OnFailure, RunId, Tx } from "./ports/ports.ts";
export type { Query } from "./define/query.ts";
export type { CatchUp, SchedulePolicies } from "./define/schedule-policy.ts";
export type { PerStage, Staged } from "./define/stage.ts";
