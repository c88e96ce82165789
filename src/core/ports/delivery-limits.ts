/** Bounds of dispatching, resending and requeueing. */
export const deliveryLimits = {
  /** How long a lease must stand expired, seen twice by one process, before its jobs are rescued. */
  rescueLookMs: 3_000,
  quarantineCharactersMax: 65_536,
  deadLetterBackoffMs: 60_000,
  insertRoundsMax: 5,
  sendConcurrencyMax: 4,
  queueDelayMsMax: 900_000,
  earlyMessageWaitMsMax: 2_000,
  earlyClaimRoundsMax: 3,
  stuckMessageDelayMs: 1_000,
  outboxOpenMs: 5_000,
  handoffsResentMax: 20,
  wakeRowsMax: 100,
  requeueRowsMax: 500,
  runningSampleMax: 1_000,
  emptyQueueMs: 5_000,
  unclaimedMs: 30_000,
  /** What a queue counts as delayed may be a message that is late: by a minute, and then it has to be received. */
  lateMessageMs: 90_000,
  /** Between two scheduler tasks: longer ago, and the queue may have been full and empty again. */
  sightAgeMsMax: 15_000,
  aheadRowsMax: 10_000,
  aheadSinceMs: 2_000,
  overtakenMs: 120_000,
  relayRowsMax: 500,
  relayRoundsMax: 20,
} as const;
