/** What a definition may import from `belfry`. Everything else in `src/` is the inside. */
export { defineApp } from "../define/define-app.ts";
export { defineCalendar } from "../define/define-calendar.ts";
export { defineDataGraph } from "../define/define-data-graph.ts";
export { defineFanOut } from "../define/define-fan-out.ts";
export { defineGraph } from "../define/define-graph.ts";
export { defineJob } from "../define/define-job.ts";
export type { RetryOptions } from "../define/retry.ts";
export { defineLimit } from "../define/limit.ts";
export { aws, defineSchedule } from "../define/define-schedule.ts";
export { defineSweep } from "../define/define-sweep.ts";
export {
  AmbiguousError,
  InvalidPayload,
  KeyConflict,
  PermanentError,
  RateLimited,
  RetryLater,
} from "../define/errors.ts";
export { sql } from "../define/query.ts";
export { type CostLine, type Costs, costsCsv, type CostsOptions, readCosts } from "../insight/own-costs.ts";

export type { Duration } from "../calendar/duration.ts";
export type {
  BatchContext,
  BatchJob,
  BatchResult,
  Context,
  EnqueueOptions,
  Job,
  SettledJob,
} from "../define/context.ts";
export type { AppOptions } from "../define/define-app.ts";
export type { RunSummary, ThenOptions } from "../define/continuation.ts";
export type { CalendarDefinition, CalendarOptions, HolidayDate } from "../define/define-calendar.ts";
export type { DataGraphJob, DataGraphOptions, DataTask, DataTaskInputs } from "../define/define-data-graph.ts";
export type { FanOutOptions, OfMoment, RunEndOptions } from "../define/define-fan-out.ts";
export type { BranchOptions, DeclareTask, GraphOptions, OfInput, TaskOptions } from "../define/define-graph.ts";
export type { EachEnd, EachOptions } from "../define/each-task.ts";
export type { TaskHandle, TaskInputs, TaskOutputs, TasksBefore } from "../define/task-handle.ts";
export type { SleepOptions, TimeoutRule, WaitBase, WaitForOptions } from "../define/wait-task.ts";
export type { Concurrency, ConcurrencyByKey, ConcurrencyInAll } from "../define/concurrency.ts";
export type { CircuitOptions } from "../define/circuit.ts";
export type { Batching } from "../define/batch.ts";
export type { Debounce } from "../define/debounce.ts";
export type { Blackout } from "../define/blackout.ts";
export type { LaneDefinition } from "../define/lane.ts";
export type { Limit, LimitOptions, LimitUse } from "../define/limit.ts";
export type { RateOptions } from "../define/rate.ts";
export type { Fairness, Sharing } from "../define/turn.ts";
export type {
  JobFields,
  JobLimits,
  JobOptions,
  BatchEnds,
  BatchJobOptions,
  JobResult,
  NoPayload,
  PayloadIn,
  PayloadOut,
  StarterLimits,
  TaskLimits,
} from "../define/define-job.ts";
export type {
  AwsAt,
  AwsCron,
  AwsRate,
  Cron,
  PayloadFor,
  ScheduleOptions,
  ScheduleTime,
} from "../define/define-schedule.ts";
export type { SweepOptions } from "../define/define-sweep.ts";
export type { AppDefinition, Occurrence, ScheduleDefinition } from "../define/definition.ts";
export type { Moment } from "../define/moment.ts";
export type { Query } from "../define/query.ts";
export type { RouteContext, Routes } from "../define/routes.ts";
export type { CatchUp, InstantText, ScheduleAfter, SchedulePolicies } from "../define/schedule-policy.ts";
export type { ScheduleObjective } from "../define/objective.ts";
export type { ByStage, PerStage } from "../define/stage.ts";
export type { BackoffName } from "../machine/backoff.ts";
export type { AttemptOutcome, AttemptView, Instant, JobId, JobView, Json } from "../machine/job.ts";
export type { JoinRule } from "../machine/join.ts";
export type { State as JobState } from "../machine/state.ts";
export type { Enqueued } from "../machine/client.ts";
export type { TaskSize } from "../machine/launcher.ts";
export type { Priority } from "../machine/turn.ts";
export type { FailurePolicy, RunResult } from "../machine/run.ts";
export type { Log, MetricUnit } from "../machine/ports.ts";
export type { CallerTx, DatabasePool, PooledConnection, Queries, Tx } from "../machine/transaction.ts";
export type { RunId } from "../machine/job.ts";
export type { GapRule, Launch, OnExcluded, OverlapReadings, Weekday } from "../machine/schedule.ts";
