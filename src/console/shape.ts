/** What the page shows: the API's own types under short names. `client.ts` is where the two may differ. */
import type { JobCountsReply, JobDetailReply, JobListReply, JobReply } from "../api/shape/job.ts";
import type {
  LaneReply,
  LockReply,
  SlotUseReply,
  SummaryReply,
  ThroughputReply,
  WorkerReply,
} from "../api/shape/overview.ts";
import type { RunReply, TaskReply } from "../api/shape/run.ts";
import type { occurrenceJson, scheduleJson } from "../api/view.ts";

export type Job = JobReply;
export type JobDetail = JobDetailReply;
export type JobPage = JobListReply;
export type JobCounts = JobCountsReply;
export type State = Job["state"];
export type JobEvent = JobDetail["events"][number];
export type Schedule = ReturnType<typeof scheduleJson>;
export type Occurrence = ReturnType<typeof occurrenceJson>;
export type Lane = LaneReply;
export type SlotUse = SlotUseReply;
export type Lock = LockReply;
export type Worker = WorkerReply;
export type Summary = SummaryReply;
export type Minute = ThroughputReply["minutes"][number];
export type Run = RunReply;
export type Task = TaskReply;

/** A count that stopped at a bound has `isMore`. */
export interface Count {
  readonly count: number;
  readonly isMore: boolean;
}

/** Failed jobs that failed alike. */
export interface FailureGroup {
  readonly fingerprint: string;
  readonly kind: string;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly jobs: number;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly newest: string;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** Why a job does not run, and when it will. */
export interface Explanation {
  readonly sentence: string;
  readonly advice: string | null;
  /** Jobs that must end first. */
  readonly waitsFor: readonly string[];
}

export const states = [
  "PENDING",
  "QUEUED",
  "RUNNING",
  "RETRY_WAIT",
  "SUCCESS",
  "FAILED",
  "CANCELED",
  "SKIPPED",
] as const satisfies readonly State[];

const finished: ReadonlySet<State> = new Set(["SUCCESS", "FAILED", "CANCELED", "SKIPPED"]);
export const isFinal = (state: State): boolean => finished.has(state);
export const mayRetry = (state: State): boolean => isFinal(state) && state !== "SUCCESS";
