import { dayMs, hourMs } from "../job/units.ts";

/** Bounds of what operators search, count and change. */
export const operationsLimits = {
  historyRowsMax: 1_000,
  countedRowsMax: 1_000,
  /** Schedules on one page with their last occurrences, and how many of those. */
  outcomeRowsMax: 100,
  outcomesShown: 30,
  /** How far back the last end of a schedule is looked for, and the beginning of its failures. */
  lastEndLooksMax: 8,
  failingLooksMax: 300,
  /** Tasks of a run in one picture, and edges that lead to one of them. */
  mappedTasksMax: 10_000,
  mappedEdgesMax: 20,
  /** Schedules looked at for what comes up, times of each, and times that are listed. */
  upcomingSchedulesMax: 1_000,
  upcomingTimesEach: 60,
  upcomingTimesShown: 200,
  /** A job that started this long after its nominal time was on time. */
  onTimeMs: 60_000,
  /** How long one of the counts beside the states looks: there are eight, and pages that are open ask again and again. */
  countedMs: 50,
  listPayloadBytesMax: 2_048,
  /** Rows one look of a search goes through, and how long a search goes on looking before it answers with what it has. */
  searchRowsMax: 5_000,
  searchMs: 100,
  searchedPayloadsMax: 5,
  searchedWordsMax: 10,
  searchedTextCharactersMax: 500,
  countRowsMax: 10_000,
  liveRowsMax: 200_000,
  failureRowsMax: 10_000,
  /** An occurrence that is still PLANNED this long after its time: longer than a backlog that is being worked off. */
  overdueMs: 600_000,
  /** A run that is open for longer: a job on Fargate may take seven days. */
  longRunMs: 8 * dayMs,
  /** Of the figures about failures. A scheduler task reads them each minute, so none is missed between two of them. */
  failuresMs: 300_000,
  /** Over which kinds are compared; a share of fewer events than this tells nothing. */
  worstKindMs: 600_000,
  worstKindMin: 3,
  /** An attempt that takes longer is slow, a job that starts later is late: alarms are about the share of them. */
  slowTryMs: 300_000,
  lateStartMs: 60_000,
  /** Past the timeout of any job: a task that still runs then is one that no job is waiting for. */
  endlessTaskMs: 900_000,
  /** One page of ECS. */
  tasksLookedAtMax: 100,
  /** Tables with fewer dead rows are nobody's problem. */
  deadRowsMin: 10_000,
  oldTransactionMs: 1_000,
  clockBehindMs: 1_000,
  failureGroupsMax: 200,
  slotGroupsShownMax: 200,
  slotHoldersShownMax: 20,
  workersShownMax: 500,
  workerJobsShownMax: 100,
  workerSeenMs: hourMs,
  locksShownMax: 100,
  minutesShownMax: 1_440,
  kindsShownMax: 1_000,
  rollUpRowsMax: 5_000,
  bulkRowsMax: 500,
  /** Each may have a task to stop, and all of a page are stopped well within the lease. */
  bulkCancelRowsMax: 100,
  bulkLeaseMs: 10_000,
  unholdRowsMax: 1_000,
  unholdRoundsMax: 1_000,
  /** What one statement writes for requests that came at the same time: rows, and bytes of payload. */
  gatheredRowsMax: 500,
  gatheredBytesMax: 4 * 1024 * 1024,
  /** Requests that go together wait no longer than this for a key that another transaction holds; its own then waits alone. */
  gatheredLockWaitMs: 100,
  /** Requests that wait alone for a held key, each on a connection of its own; the next one is refused. */
  heldKeysMax: 2,
} as const;
