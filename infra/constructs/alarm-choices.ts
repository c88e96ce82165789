/** A threshold, or the word `none`: an alarm can be left out, but not by forgetting it. @beta */
export type Choice = number | "none";

/** Every alarm there is. A new one does not compile until each stage has chosen. Their sections are in docs/runbook.md. @beta */
export interface AlarmChoices {
  /** Wakes without a finished task; missing data counts. Page. */
  readonly schedulerSilentWakes: Choice;
  /** Jobs of any kind and lane that ended FAILED in the last 5 minutes. Warn. */
  readonly failedJobs: Choice;
  /** Percent of a kind's jobs that ended FAILED over 10 minutes, of a kind with 3 such jobs at least. Page. */
  readonly failingKindPercent: Choice;
  /** Runs that ended FAILED in the last 5 minutes, where jobs start runs. Page. */
  readonly failedRuns: Choice;
  /** Jobs that are FAILED, however old: each needs a decision. Warn. */
  readonly waitingDeadLetters: Choice;
  /** Percent of a kind's attempts over 10 minutes that took longer than 5 minutes. Warn. */
  readonly slowTriesPercent: Choice;
  /** Percent of a kind's jobs over 10 minutes that started more than a minute late. Warn. */
  readonly lateStartsPercent: Choice;
  /** Percent of the items of a kind's batches that failed over 10 minutes. Page. */
  readonly failedItemsPercent: Choice;
  /** Percent of a kind's jobs over 10 minutes that did not get their lock, of a kind with 3 such jobs at least. Warn. */
  readonly jobLockFailedPercent: Choice;
  /** Percent of failed attempts to take the scheduler's lock. Warn. */
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
  /** Times in 5 minutes that the bus or the webhook did not accept events, where there is one. Warn. */
  readonly failedPublishes: Choice;
  /** Times in 5 minutes that the archive could not be written, where there is one. Warn. */
  readonly failedArchives: Choice;
  /** Seconds that the first row past its retention waits for the archive, where there is one. Up to 2 hours are not measured. Warn. */
  readonly archiveLagSeconds: Choice;
  /** Times in 5 minutes that a sweep started later than its own `maxLateness`. Page. */
  readonly lateSweeps: Choice;
  /** Occurrences PLANNED although their time was 10 minutes ago or more: none may be left undecided. Page. */
  readonly overdueOccurrences: Choice;
  /** Runs that are open for longer than 8 days, where jobs start runs. Warn. */
  readonly longRuns: Choice;
  /** Jobs in 5 minutes whose call was sent with an unknown result (`onAmbiguous: "park"`): a person decides. Warn. */
  readonly ambiguousJobs: Choice;
  /** Circuits that opened in 5 minutes: what their jobs call is down, and the jobs wait. Warn. */
  readonly openedCircuits: Choice;
  /** Schedules that miss so many times that an hour uses up 2 % of what 28 days may. Page. */
  readonly fastBurns: Choice;
  /** Schedules that miss so many times that 6 hours use up 5 % of it. Warn. */
  readonly slowBurns: Choice;
  /** Percent of a table's rows that are dead: vacuum does not keep up. Warn. */
  readonly deadRowsPercent: Choice;
  /** Seconds that the oldest transaction is open; it keeps dead rows alive. Warn. */
  readonly oldestTransactionSeconds: Choice;
  /** Seconds that the database's clock stands behind the newest decision of a schedule: it stepped back. Page. */
  readonly clockBehindSeconds: Choice;
  /** Messages in a lane's dead-letter queue, for 5 minutes. Page. */
  readonly deadLetters: Choice;
  /** Seconds that the oldest message of a lane waits, beyond the dispatch window and the time its function may take. Warn. */
  readonly oldestMessageSeconds: Choice;
  /** Wakes in 5 minutes that started no task. Warn. */
  readonly lostWakes: Choice;
  /** Invocations by a rule in 5 minutes that EventBridge could not make. Warn. */
  readonly failedInvocations: Choice;
  /** Throttled invocations of a function in 5 minutes. Warn. */
  readonly throttles: Choice;
  /** Invocations of a function in 5 minutes that crashed or timed out. Warn. */
  readonly functionErrors: Choice;
  /** Percent of its timeout that an invocation of a worker or the API took. Warn. */
  readonly nearTimeoutPercent: Choice;
  /** Answers of the API in 5 minutes with a status of 500 and above. Warn. */
  readonly apiErrors: Choice;
  /** Messages of a lane in 5 minutes that were sent again although they had been sent again before. Warn. */
  readonly resentMessages: Choice;
  /** Messages in 5 minutes that Belfry did not write. Warn. */
  readonly unreadableMessages: Choice;
  /** Jobs in 5 minutes whose message died before a worker claimed it. Warn. */
  readonly undeliveredJobs: Choice;
  /** Launches in 5 minutes that ECS refused finally: each is a failed attempt. Warn. */
  readonly failedLaunches: Choice;
  /** Launches that found no room, in each of three times 5 minutes. Warn. */
  readonly postponedLaunches: Choice;
  /** Ends of tasks that no function could take. Warn. */
  readonly lostEvents: Choice;
  /** Tasks of jobs, schedules or passes that run longer than any job and any pass may. Warn. */
  readonly endlessTasks: Choice;
  /** Percent of the database's disk that is free, where RDS gives a fixed one; at 10 it adds disk. Warn, page where it may not. */
  readonly freeStoragePercent: Choice;
  /** Percent of it that is free after RDS should have added disk. Page. */
  readonly fullStoragePercent: Choice;
  /** Percent of `max_connections` that are in use, for 15 minutes. Page. */
  readonly connectionsPercent: Choice;
  /** Megabytes of memory that the database has left, for 15 minutes. Warn. */
  readonly freeMemoryMb: Choice;
  /** Megabytes that the database swapped out, for 15 minutes. Warn. */
  readonly swapMb: Choice;
  /** Sign-ins by IAM in 5 minutes that failed. Warn. */
  readonly failedSignIns: Choice;
  /** Percent of the database's CPU, for 30 minutes. Warn. */
  readonly cpuPercent: Choice;
  /** CPU credits that a burstable database has left, for 4 hours: a new one begins with none. Warn. */
  readonly cpuCredits: Choice;
  /** Percent of the largest capacity of an Aurora cluster, for 15 minutes. Warn. */
  readonly capacityPercent: Choice;
  /** Transaction ids in use, of 2,147,483,647. Page. */
  readonly transactionIds: Choice;
  /** Failed status checks of the NAT instance, or connections that the NAT gateway could not make. Page. */
  readonly wayOutFailures: Choice;
}

/** What fits most stages; spread it and change single ones. @beta */
export const usualAlarms: AlarmChoices = {
  // Starts of tasks take 15 to 60 s, so that two minutes without an end are no fault.
  schedulerSilentWakes: 3,
  failedJobs: 0,
  failingKindPercent: 50,
  failedRuns: 0,
  waitingDeadLetters: 0,
  slowTriesPercent: 1,
  lateStartsPercent: 1,
  failedItemsPercent: 10,
  jobLockFailedPercent: 50,
  lockFailedPercent: 50,
  lockOutages: 0,
  lockSkips: 0,
  rescues: 0,
  rescuedPercent: 1,
  failedSteps: 0,
  failedPublishes: 0,
  failedArchives: 0,
  archiveLagSeconds: 14_400,
  lateSweeps: 0,
  overdueOccurrences: 0,
  longRuns: 0,
  ambiguousJobs: 0,
  openedCircuits: 0,
  fastBurns: 0,
  slowBurns: 0,
  deadRowsPercent: 50,
  oldestTransactionSeconds: 600,
  clockBehindSeconds: 5,
  deadLetters: 0,
  oldestMessageSeconds: 300,
  lostWakes: 0,
  failedInvocations: 0,
  throttles: 0,
  functionErrors: 0,
  nearTimeoutPercent: 95,
  apiErrors: 5,
  resentMessages: 100,
  unreadableMessages: 0,
  undeliveredJobs: 0,
  failedLaunches: 0,
  postponedLaunches: 0,
  lostEvents: 0,
  endlessTasks: 0,
  freeStoragePercent: 20,
  fullStoragePercent: 7,
  connectionsPercent: 80,
  freeMemoryMb: 128,
  swapMb: 256,
  failedSignIns: 0,
  cpuPercent: 90,
  cpuCredits: 20,
  capacityPercent: 95,
  transactionIds: 1_000_000_000,
  wayOutFailures: 0,
};

/**
 * For passes on spare capacity: a refused wake rings no alarm, four in 5 minutes warn. While it is away one pass in 5 minutes comes
 * on demand, up to a minute later than the one before, so that the scheduler is silent only after 7.
 */
export const spotAlarms: AlarmChoices = { ...usualAlarms, schedulerSilentWakes: 7, lostWakes: 3, failedInvocations: 3 };

/** For a stage without alarms. */
export const noAlarms: AlarmChoices = Object.fromEntries(
  Object.keys(usualAlarms).map((name) => [name, "none"]),
) as unknown as AlarmChoices;
