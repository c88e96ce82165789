/** What the page shows: the API's own types under short names. `client.ts` is where the two may differ. */
import type { JobCountsReply, JobDetailReply, JobListReply, JobReply } from "../api/shape/job.ts";
import type { AttemptDetailReply } from "../api/shape/attempt.ts";
import type { KindFigureListReply } from "../api/shape/kind-figures.ts";
import type {
  AuditListReply,
  FailureGroupListReply,
  LaneReply,
  LockReply,
  SlotUseReply,
  SummaryReply,
  ThroughputReply,
  WorkerReply,
} from "../api/shape/overview.ts";
import type { KindReply } from "../api/shape/kind.ts";
import type { RunReply, TaskReply } from "../api/shape/run.ts";
import type { OccurrenceEndReply, ScheduleOutcomeReply } from "../api/shape/schedule-outcome.ts";
import type { UpcomingReply } from "../api/shape/upcoming.ts";
import type { scheduleJson } from "../api/view.ts";

export type ShownJob = JobReply;
export type ShownJobDetail = JobDetailReply;
export type ShownJobPage = JobListReply;
export type ShownJobCounts = JobCountsReply;
export type ShownAttempt = AttemptDetailReply;
export type ShownAudit = AuditListReply["audits"][number];
export type JobState = ShownJob["state"];

export type ShownSchedule = ReturnType<typeof scheduleJson>;
export type ShownEnd = OccurrenceEndReply;
export type ShownOccurrence = TimedOutcome["times"]["occurrences"][number];
/** A schedule with its next time and what became of its last ones. */
export type ShownOutcome = ScheduleOutcomeReply;
/** One schedule with each of its newest and next times. */
export interface TimedOutcome extends ShownOutcome {
  readonly times: NonNullable<ShownOutcome["times"]>;
}
/** What a clock change does to one of the next times. */
export type ShownChange = NonNullable<TimedOutcome["times"]["next"][number]["change"]>;
export type ShownUpcoming = UpcomingReply;
export type ShownKind = KindReply;
export type ShownKindFigures = KindFigureListReply;
export type ShownGlance = ShownOutcome["last"][number];
export type ShownLane = LaneReply;
export type ShownSlotUse = SlotUseReply;
export type ShownLock = LockReply;
export type ShownWorker = WorkerReply;
export type ShownSummary = SummaryReply;
export type ShownMinute = ThroughputReply["minutes"][number];
export type ShownRun = RunReply;
export type ShownTask = TaskReply;

/** A count that stopped at a bound has `isMore`. */
export type ShownCount = ShownSummary["deadLetters"];

/** Failed jobs that failed alike. */
export type ShownFailureGroup = FailureGroupListReply["groups"][number];

export const jobStates = [
  "PENDING",
  "QUEUED",
  "RUNNING",
  "RETRY_WAIT",
  "SUCCESS",
  "FAILED",
  "CANCELED",
  "SKIPPED",
] as const satisfies readonly JobState[];

const finished: ReadonlySet<JobState> = new Set(["SUCCESS", "FAILED", "CANCELED", "SKIPPED"]);
export const isJobOver = (state: JobState): boolean => finished.has(state);
export const mayRetry = (state: JobState): boolean => isJobOver(state) && state !== "SUCCESS";
