/** What a definition may import from `belfry`. Everything else in `src/` is the inside. */
export { defineApp } from "./define-app.ts";
export { defineDataGraph } from "./define-data-graph.ts";
export { defineFanOut } from "./define-fan-out.ts";
export { defineGraph } from "./define-graph.ts";
export { defineJob } from "./define-job.ts";
export { aws, defineSchedule } from "./define-schedule.ts";
export { defineSweep } from "./define-sweep.ts";
export { AmbiguousError, httpError, InvalidPayload, KeyConflict, PermanentError, RetryLater } from "./errors.ts";
export { sql } from "./query.ts";

export type { AppOptions } from "./define-app.ts";
export type { DataGiven, DataGraphOptions, DataTask } from "./define-data-graph.ts";
export type { FanOutOptions, Moment } from "./define-fan-out.ts";
export type { SweepOptions } from "./define-sweep.ts";
export type { BranchOptions, DeclareTask, GraphOptions, Handle, Outputs, TaskOptions } from "./define-graph.ts";
export type { JoinRule } from "./join.ts";
export type { JobLimits, JobOptions, Retry } from "./define-job.ts";
export type { AwsCron, AwsRate, CatchUp, Cron, SchedulePolicies, ScheduleOptions, When } from "./define-schedule.ts";
export type { BatchResult, Context, Duration, Enqueued, EnqueueOptions, Job, Settled } from "./context.ts";
export type { AppDefinition, LaneDefinition, Occurrence, PerStage, ScheduleDefinition } from "./definition.ts";
export type { JobId, Json } from "./job.ts";
export type { Log, MetricUnit, OnFailure, RunId, Tx } from "./ports.ts";
export type { Query } from "./query.ts";
export type { Staged } from "./stage.ts";
