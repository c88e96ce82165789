export const workerLimits = {
  claimLockTimeoutMs: 2_000,
  lockedClaimsMax: 2,
  workerRescueIntervalMs: 5_000,
  workerRescueRowsMax: 20,
  settleGroupMax: 500,
  settleGatherMs: 5,
  settleTriesMax: 3,
  settleRetryMs: 200,
  /** Between two attempts to write an outcome while the store is away: less than `rescueLookMs`. */
  settleRetryMsMax: 1_000,
  /** What must be left of an invocation for one more attempt to write an outcome. */
  settleMarginMs: 500,
  /** Even if the process may run longer. */
  settleForMsMax: 15 * 60_000,
  /** Before messages are given back because the store is away: doubles with each batch, up to the second. */
  giveBackPauseMs: 1_000,
  giveBackPauseMsMax: 15_000,
  /** After a heartbeat that failed: less than `rescueLookMs`. */
  heartbeatRetryMs: 1_000,
  /** Between two writes of one job's progress. */
  progressIntervalMs: 1_000,
  /** Between two looks at a rate whose free units others hold at this moment. */
  limitLookMs: 5,
  /** Before the end of a worker's time: longer than `abortGraceMs`, so that interrupted jobs can still be settled. */
  deadlineMarginMs: 3_000,
  abortGraceMs: 1_000,
  shutdownMs: 15_000,
  /** Longer than a release takes to reach the last worker. */
  unknownKindMs: 900_000,
  sealUnavailableMs: 86_400_000,
  unknownKindRetryMs: 5_000,
  unknownKindRetryMsMax: 60_000,
  launchLeaseMs: 180_000,
  launchRetryMs: 30_000,
  /** Between two launches of one worker: ECS takes about 20 RunTask a second from a whole account. */
  launchIntervalMs: 100,
  launchesWaitingMax: 100,
  launchWaitMs: 5_000,
  launchWaitMsMax: 120_000,
  taskStopsConcurrencyMax: 4,
} as const;
