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
  /** Jobs rescued from workers that went silent, in 5 minutes. A healthy system rescues none. Warn. */
  readonly rescues: Choice;
  /** Steps of a pass that failed, in 5 minutes. Warn. */
  readonly failedSteps: Choice;
  /** Seconds between due and start that 99 of 100 jobs stay below, by job. Warn. */
  readonly latenessP99Seconds: Choice;
  /** Messages in a lane's dead-letter queue. Page. */
  readonly deadLetters: Choice;
  /** Seconds that the oldest message of a lane waits: due, but not claimed. Warn. */
  readonly oldestMessageSeconds: Choice;
  /** Wakes that started no task. Warn. */
  readonly lostWakes: Choice;
  /** Throttled invocations of a function in 5 minutes. Warn. */
  readonly throttles: Choice;
}

/** What fits most stages; spread it and change single ones. */
export const usualAlarms: AlarmChoices = {
  schedulerSilentWakes: 2,
  executionP99Seconds: 300,
  failedItemsPercent: 10,
  lockFailedPercent: 50,
  lockOutages: 0,
  rescues: 0,
  failedSteps: 0,
  latenessP99Seconds: 60,
  deadLetters: 0,
  oldestMessageSeconds: 300,
  lostWakes: 0,
  throttles: 0,
};

/** For a stage that nobody is called for. */
export const noAlarms: AlarmChoices = Object.fromEntries(
  Object.keys(usualAlarms).map((name) => [name, "none"]),
) as unknown as AlarmChoices;
