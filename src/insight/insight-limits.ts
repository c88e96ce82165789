import { dayMs, hourMs } from "../machine/units.ts";

/** Bounds of what operators search, count and change. */
export const insightLimits = {
  historyRowsMax: 1_000,
  countedRowsMax: 1_000,
  /** Schedules on one page with their last occurrences, and how many of those. */
  outcomeRowsMax: 100,
  outcomesShown: 30,
  /** Next times of one schedule, beside its last ones. */
  nextTimesShown: 5,
  /** Of a schedule with calendars, for the next times that these exclude. */
  nextTimesLooked: 400,
  nextExcludedShown: 3,
  /** The newest failures of a summary. */
  lastFailuresShown: 8,
  /** How many occurrences back the last end of a schedule, and its first failure in a row, are searched. */
  lastEndLooksMax: 8,
  /** The newest failures, from an index alone, and the newest runs that FAILED: only a schedule of those is looked at. */
  suspectsMax: 10_000,
  suspectRunsMax: 1_000,
  /** Of more schedules those are judged by lateness whose newest start was latest, among so many newest decisions. */
  latestJudgedMax: 1_000,
  latestLooksMax: 5_000,
  failingLooksMax: 300,
  /** Tasks of a run in one picture, and edges that lead to one of them. */
  mappedTasksMax: 10_000,
  mappedEdgesMax: 40_000,
  mappedEdgesOfTaskMax: 20,
  /** Failed tasks of a run that its picture has with their errors. */
  mappedFailuresMax: 100,
  /** For the list of upcoming times: schedules read, times of all and at least of each, and times listed. */
  upcomingSchedulesMax: 1_000,
  upcomingTimesMax: 30_000,
  upcomingTimesEach: 60,
  upcomingTimesShown: 200,
  /** Of a simulation: days, times of all schedules, and of what is found the first that are shown. */
  simulatedDaysMax: 366,
  simulatedTimesMax: 200_000,
  simulatedShownMax: 100,
  /** How far back it is looked how long a kind typically runs. */
  typicalHours: 168,
  /** Schedules whose objectives are watched. */
  objectivesMax: 500,
  /** A job that started this long after its nominal time was on time. */
  onTimeMs: 60_000,
  /** Looks, and time limit, of one of the eight counts by state. Open pages request them again and again. */
  countedLooksMax: 2,
  countedMs: 50,
  /** Jobs before one that waits: each may lie on a page of its own. */
  placeCountedMax: 100,
  listPayloadBytesMax: 2_048,
  /** Rows of one look of a search; after how many looks, of a list or of a count, and what time, it answers with what it has found. */
  searchRowsMax: 5_000,
  searchLooksMax: 4,
  countLooksMax: 20,
  searchMs: 100,
  searchedPayloadsMax: 5,
  searchedWordsMax: 10,
  searchedTextCharactersMax: 500,
  countRowsMax: 10_000,
  /** Of the jobs that run in a lane, for one that waits there: each is read by its id. */
  runningCountedMax: 20,
  predecessorsShown: 20,
  /** Of each part of what is live; of a lane's messages the first and the last. */
  liveRowsMax: 1_000,
  /** Whose jobs that wait for predecessors are counted, and listed by due time. */
  openRunsMax: 250,
  /** Of a lane's messages, those sent first, or last for what comes up: the rows that a list by due time sorts, as no index has that order. */
  outRowsMax: 1_000,
  failureRowsMax: 10_000,
  /** An occurrence that is still PLANNED this long after its time is overdue. Longer than a normal backlog lasts. */
  overdueMs: 600_000,
  /** A run that is open for longer is long: a job on Fargate may take seven days. */
  longRunMs: 8 * dayMs,
  /** The window of the failure figures. A scheduler task reads them each minute, so no failure is missed. */
  failuresMs: 300_000,
  /** The window in which kinds are compared; a share of fewer events than this means nothing. */
  worstKindMs: 600_000,
  worstKindMin: 3,
  /** An attempt that takes longer is slow, a job that starts later is late: alarms are about the share of them. */
  slowTryMs: 300_000,
  lateStartMs: 60_000,
  /** Longer than the timeout of any job: no job waits for a task that still runs then. */
  endlessTaskMs: 900_000,
  /** One page of ECS. */
  tasksLookedAtMax: 100,
  /** Tables with fewer dead rows are ignored. */
  deadRowsMin: 10_000,
  oldTransactionMs: 1_000,
  clockBehindMs: 1_000,
  /** A lane with more messages that are sent again and again is not well. */
  resentMessagesMax: 100,
  resentBatchesReadMax: 10_000,
  /** A wake, a task's start and a dead holder's lease take less; once this old, the last pass is one that is missing. */
  passAgeMsMax: 180_000,
  failureGroupsMax: 200,
  /** Jobs that wait for a time, of each hold. */
  dueSoonRowsMax: 10_000,
  failureSamplesShown: 3,
  /** Jobs of a group in whose history its first time is looked for. */
  failureFirstsMax: 1_000,
  /** The newest redrives, among which that of a job's group is looked for. */
  redrivesReadMax: 100,
  /** Groups that one redrive names: each sends the jobs of its steps. */
  redrivenGroupsMax: 50,
  slotGroupsShownMax: 200,
  slotHoldersShownMax: 20,
  workersShownMax: 500,
  workerJobsShownMax: 100,
  workerSeenMs: hourMs,
  locksShownMax: 100,
  minutesShownMax: 1_440,
  kindsShownMax: 1_000,
  /** Buckets of all kinds and both periods that one look at their figures reads, and the longest period. */
  kindFigureRowsMax: 50_000,
  kindFigureHoursMax: 2_160,
  hourCountsMs: 90 * 24 * hourMs,
  rollUpRowsMax: 5_000,
  /** Groups of one look at costs, the dearest first. */
  costGroupsMax: 500,
  /** Removed schedules that one pass looks at. */
  removalsMax: 1_000,
  bulkRowsMax: 500,
  /** Each job may have a task to stop; the tasks of a page are stopped well within the lease. */
  bulkCancelRowsMax: 100,
  bulkLeaseMs: 10_000,
  /** A paced change is written this far ahead: what is stopped leaves at most twice that much to run. */
  bulkAheadMs: 60_000,
  unholdRowsMax: 1_000,
  unholdRoundsMax: 1_000,
  /** Rows and payload bytes that one statement writes for concurrent requests. */
  gatheredRowsMax: 500,
  gatheredBytesMax: 4 * 1024 * 1024,
  /** How long batched requests wait for a key that another transaction holds; then the request with that key waits alone. */
  gatheredLockWaitMs: 100,
  /** So that a probe is answered within 2 s: load balancers and container agents give up after a few. */
  probeMsMax: 1_500,
  /** How long a request's key is kept, and of how many requests: what one of them made is kept as long at least. */
  requestKeysMs: 7 * dayMs,
  requestKeysMax: 10_000,
  /** Requests that wait alone for a held key, each on its own connection; more are refused. */
  heldKeysMax: 2,
  /** How long an API goes on with what it read of the marks of earlier releases. */
  marksKnownMs: 10_000,
  /** Of the picture of a range: rows read of what ended, of each retention, and of what is open; bars drawn one by one; rows, and cells where there are more bars. */
  nightReadMax: 50_000,
  nightOpenMax: 10_000,
  nightBarsMax: 2_000,
  nightRowsMax: 100,
  nightCellsMax: 2_000,
  nightHoursMax: 168,
  /** A schedule's times that are counted: two weeks of every minute. */
  occurrencesCountedMax: 20_160,
  occurrenceDaysMax: 60,
  /** Runs of a graph side by side, those of them after the one that is looked at, and tasks of each. */
  matrixRunsMax: 30,
  matrixRunsAfter: 10,
  matrixTasksMax: 200,
  /** Waiting jobs of a lane of which the load to come is simulated, the soonest. */
  expectedJobsMax: 50_000,
  /** Of the newest changes, when those of one object are wanted. */
  auditsSearchedMax: 20_000,
} as const;
