/** A threshold, or the word `none`: an alarm can be left out, but not by forgetting it. */
export type Choice = number | "none";

/** Every alarm there is. A new one does not compile until each stage has chosen. Their sections are in docs/runbook.md. */
export interface AlarmChoices {
  /** Wakes without a finished task; missing data counts. Page. */
  readonly schedulerSilentWakes: Choice;
  /** Seconds that 99 of 100 tries of a job stay below, by job, for 5 minutes. Warn. */
  readonly executionP99Seconds: Choice;
  /** Percent of processed items that failed, by job, for 10 minutes. No items are fine. Page. */
  readonly failedItemsPercent: Choice;
  /** Percent of tries to get the scheduler's lock that failed. Warn. */
  readonly lockFailedPercent: Choice;
  /** Times that the lock store was away, in 5 minutes. Page. */
  readonly lockOutages: Choice;
  /** Wakes in 5 minutes that did nothing because the lock store was away, where `onLockOutage` is `skip`. Page. */
  readonly lockSkips: Choice;
  /** Jobs rescued from workers that went silent, in 5 minutes. A healthy system rescues none. Warn. */
  readonly rescues: Choice;
  /** Percent of claims in 5 minutes that were rescued. Page. */
  readonly rescuedPercent: Choice;
  /** Steps of a pass that failed, in 5 minutes. Warn. */
  readonly failedSteps: Choice;
  /** Seconds between due and start that 99 of 100 jobs stay below, by job. Warn. */
  readonly latenessP99Seconds: Choice;
  /** Times in 5 minutes that a sweep started later than its own `maxLateness`. Page. */
  readonly lateSweeps: Choice;
  /** Occurrences PLANNED although their time was 10 minutes ago or more: none may be left undecided. Page. */
  readonly overdueOccurrences: Choice;
  /** Jobs in 5 minutes whose call was sent with an unknown result (`onAmbiguous: "park"`): a person decides. Warn. */
  readonly ambiguousJobs: Choice;
  /** Percent of a table's rows that are dead: vacuum does not keep up. Warn. */
  readonly deadRowsPercent: Choice;
  /** Seconds that the oldest transaction is open; it keeps dead rows alive. Warn. */
  readonly oldestTransactionSeconds: Choice;
  /** Seconds that the database's clock stands behind the newest decision of a schedule: it stepped back. Page. */
  readonly clockBehindSeconds: Choice;
  /** Messages in a lane's dead-letter queue. Page. */
  readonly deadLetters: Choice;
  /** Seconds that the oldest message of a lane waits: due, but not claimed. Warn. */
  readonly oldestMessageSeconds: Choice;
  /** Wakes that started no task. Warn. */
  readonly lostWakes: Choice;
  /** Invocations by a rule in 5 minutes that EventBridge could not make. Warn. */
  readonly failedInvocations: Choice;
  /** Throttled invocations of a function in 5 minutes. Warn. */
  readonly throttles: Choice;
  /** Launches of a lane in 5 minutes that ECS refused for good: each is a failed try. Warn. */
  readonly failedLaunches: Choice;
  /** Launches of a lane that found no room, in each of three times 5 minutes. Warn. */
  readonly postponedLaunches: Choice;
  /** Ends of tasks that no function could take. Warn. */
  readonly lostEvents: Choice;
}

/** What fits most stages; spread it and change single ones. */
export const usualAlarms: AlarmChoices = {
  schedulerSilentWakes: 2,
  executionP99Seconds: 300,
  failedItemsPercent: 10,
  lockFailedPercent: 50,
  lockOutages: 0,
  lockSkips: 0,
  rescues: 0,
  rescuedPercent: 1,
  failedSteps: 0,
  latenessP99Seconds: 60,
  lateSweeps: 0,
  overdueOccurrences: 0,
  ambiguousJobs: 0,
  deadRowsPercent: 50,
  oldestTransactionSeconds: 600,
  clockBehindSeconds: 5,
  deadLetters: 0,
  oldestMessageSeconds: 300,
  lostWakes: 0,
  failedInvocations: 0,
  throttles: 0,
  failedLaunches: 0,
  postponedLaunches: 0,
  lostEvents: 0,
};

/** For a stage that nobody is called for. */
export const noAlarms: AlarmChoices = Object.fromEntries(
  Object.keys(usualAlarms).map((name) => [name, "none"]),
) as unknown as AlarmChoices;
