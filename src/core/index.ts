/** What a definition may import from `belfry`. Everything else in `src/` is the inside. */
export { defineApp } from "./definitions/define-app.ts";
export { defineDataGraph } from "./definitions/define-data-graph.ts";
export { defineFanOut } from "./definitions/define-fan-out.ts";
export { defineGraph } from "./definitions/define-graph.ts";
export { defineJob } from "./definitions/define-job.ts";
export { aws, defineSchedule } from "./definitions/define-schedule.ts";
export { defineSweep } from "./definitions/define-sweep.ts";
export {
  AmbiguousError,
  httpError,
  InvalidPayload,
  KeyConflict,
  PermanentError,
  RetryLater,
} from "./definitions/errors.ts";
export { sql } from "./definitions/query.ts";

export type { AppOptions } from "./definitions/define-app.ts";
export type { DataGiven, DataGraphOptions, DataTask } from "./definitions/define-data-graph.ts";
export type { FanOutOptions } from "./definitions/define-fan-out.ts";
export type { Moment } from "./definitions/moment.ts";
export type { SweepOptions } from "./definitions/define-sweep.ts";
export type {
  BranchOptions,
  DeclareTask,
  GraphOptions,
  Handle,
  Outputs,
  TaskOptions,
} from "./definitions/define-graph.ts";
export type { JoinRule } from "./runs/join.ts";
export type { JobLimits, JobOptions, Retry } from "./definitions/define-job.ts";
export type { AwsAt, AwsCron, AwsRate, Cron, ScheduleOptions, When } from "./definitions/define-schedule.ts";
export type { BatchResult, Context, Duration, Enqueued, EnqueueOptions, Job, Settled } from "./definitions/context.ts";
export type { AppDefinition, LaneDefinition, Occurrence, ScheduleDefinition } from "./definitions/definition.ts";
export type { Inside, Routes } from "./definitions/routes.ts";
export type { AttemptView, JobId, JobView, Json } from "./job.ts";
export type { Log, MetricUnit, OnFailure, RunId, Tx } from "./ports.ts";
export type { Query } from "./definitions/query.ts";
export type { CatchUp, SchedulePolicies } from "./definitions/schedule-policy.ts";
export type { PerStage, Staged } from "./definitions/stage.ts";
