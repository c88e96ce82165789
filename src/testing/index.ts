/** `belfry/testing`: the real core on a real Postgres, with time, messages and faults in the test's hand. */
export { createTestSystem } from "./system.ts";
export { fakeServer } from "./fake-server.ts";
export { runJob } from "./run-job.ts";
export { timesOf } from "./times-of.ts";

export type { FakeAnswer, FakeRequest, FakeServer } from "./fake-server.ts";
export type { CrashAt } from "./faults.ts";
export type { LogLine, Metric } from "./recording.ts";
export type { JobRun, RunJobOptions } from "./run-job.ts";
export type { Ran } from "./driver.ts";
export type { RunView, TestSystem, TestSystemOptions, EnqueuedJob } from "./system.ts";
export type { ScheduledTime, TimesOptions } from "./times-of.ts";
export type { RunState } from "../machine/run.ts";
export type { OccurrenceOutcome, OccurrencePlace, OccurrenceView } from "../machine/schedule.ts";
