/**
 * Every bound of the system, in one place, the unit last in the name.
 * A loop, batch, queue, wait or payload without a line here is a defect.
 */
export const limits = {
  // definitions and input
  idCharactersMax: 64,
  keyCharactersMax: 512,
  payloadBytesMax: 256 * 1024,
  payloadDepthMax: 64,
  payloadKeysMax: 10_000,
  resultBytesMax: 64 * 1024,
  errorCodeCharactersMax: 64,
  errorMessageCharactersMax: 2_000,
  retentionMsDefault: 30 * 86_400_000,
  historyRowsMax: 1_000,
  quarantineCharactersMax: 65_536,
  schedulesMax: 10_000,
  historyMs: 90 * 86_400_000,
  partitionDaysAhead: 7,
  retentionMsMin: 7 * 86_400_000,
  retentionMsMax: 3_660 * 86_400_000,
  slotsMax: 10_000,
  misfireAgeMsMax: 366 * 86_400_000,
  misfireCountMax: 100_000,
  laneCharactersMax: 32,
  laneConcurrencyMax: 1_000,

  // the API
  listRowsMax: 500,

  // attempts
  maxAttemptsDefault: 4,
  maxAttemptsMax: 1_000,
  timeoutMsDefault: 30_000,
  lambdaTimeoutMsMax: 14 * 60_000 + 30_000,
  fargateTimeoutMsMax: 7 * 86_400_000,
  retryBaseMsDefault: 1_000,
  retryCapMsDefault: 3_600_000,
  interruptionsMax: 20,
  undeliveredMax: 3,
  deadLetterBackoffMs: 60_000,

  // leases
  leaseMsDefault: 20_000,
  leaseMsMin: 1_000,
  leaseMsMax: 12 * 3_600_000,
  heartbeatsPerLease: 3,

  // enqueue and hand-off
  insertRowsMax: 1_000,
  insertRoundsMax: 5,
  delayMsMax: 366 * 86_400_000,
  lookAheadMs: 5 * 60_000,
  sendBatchMax: 10,
  sendConcurrencyMax: 4,
  queueDelayMsMax: 900_000,
  earlyMessageWaitMsMax: 2_000,
  handoffOpenMs: 5_000,
  handoffsResentMax: 20,
  wakeRowsMax: 100,
  requeueRowsMax: 500,
  runningSampleMax: 1_000,
  emptyQueueMs: 5_000,
  unclaimedMs: 30_000,
  overtakenMs: 120_000,

  // schedules
  cronCharactersMax: 256,
  everyMsMin: 1_000,
  everyMsMax: 3_660 * 86_400_000,
  nextFireYearsMax: 48,
  missedAfterMs: 120_000,
  catchUpPaceMsDefault: 1_000,
  zoneChunksMax: 1_024,
  timetablesMax: 20_000,
  gapReadingsMax: 2_000,
  toldProblemsMax: 1_000,

  // one pass of the scheduler task
  relayRowsMax: 500,
  relayRoundsMax: 20,
  rescueRowsMax: 500,
  rescueRoundsMax: 10,
  tickSchedulesMax: 500,
  tickTimesPerScheduleMax: 1_000,
  tickRoundsMax: 10,
  tickRowsMax: 20_000,
  pruneRowsMax: 1_000,
  passMs: 55_000,
  passIntervalMs: 1_000,

  // the worker
  claimLockTimeoutMs: 2_000,
  workerRescueIntervalMs: 5_000,
  workerRescueRowsMax: 20,
  settleGroupMax: 10,
  settleGatherMs: 5,
  settleTriesMax: 3,
  settleRetryMs: 200,
  deadlineMarginMs: 1_000,
  abortGraceMs: 1_000,
  shutdownMs: 15_000,
  childrenPerJobMax: 1_000,
  batchesSizeMax: 10_000,
  batchesIterationsMax: 1_000,
  pagesMax: 10_000,

  // the lock
  lockLeaseMs: 30_000,
  lockOutageMs: 10_000,
  lockErrorRetriesMax: 10,
  lockLooksPerLease: 10,
  fenceRaisesMax: 3,
  lockNameCharactersMax: 128,

  // transactions
  serializationRetriesMax: 3,
  serializationRetryMs: 50,
  migrationLockMs: 5_000,
  connectMs: 10_000,
  idleInTransactionMs: 30_000,
  commitLooksMax: 20,
  commitLookMs: 100,
  fenceWaitMs: 300,
  fenceInstallTriesMax: 20,
} as const;
