export const deliveryLimits = {
  /** How long a lease must be expired, seen twice by one process, before its jobs are rescued: at least, and at most. */
  rescueLookMs: 3_000,
  rescueLookMsMax: 20_000,
  /** What a heartbeat may take. */
  heartbeatTakesMs: 1_000,
  quarantineCharactersMax: 65_536,
  deadLetterBackoffMs: 60_000,
  insertRoundsMax: 5,
  sendConcurrencyMax: 4,
  queueDelayMsMax: 900_000,
  earlyMessageWaitMsMax: 2_000,
  earlyClaimRoundsMax: 3,
  stuckMessageDelayMs: 1_000,
  /** A batch that its sender did not keep for so long is sent again by another process. */
  outboxOpenMs: 5_000,
  /** How often a sender keeps its batches; what is sent within the first such interval is only confirmed. */
  outboxKeptMs: 1_000,
  /** Of one page: some four seconds of calls that take 300 ms each. */
  batchesResentMax: 200,
  messagesResentMax: 500,
  /** A lane with more open batches is not searched for lost messages, as most of its jobs were never sent. */
  batchesReadMax: 1_000,
  wakeRowsMax: 100,
  wakeRoundsMax: 4,
  wakeLookedMax: 100,
  /** Keys with held jobs that one pass looks at; the next pass goes on behind them. */
  wakeKeysMax: 200,
  /** How long before it is back a unit of a rate is given to a waiting job: longer than a pass is apart from the next that looks at its key. */
  rateAheadMs: 90_000,
  requeueRowsMax: 500,
  runningSampleMax: 1_000,
  emptyQueueMs: 5_000,
  unclaimedMs: 30_000,
  /** A message that the queue counts as delayed may be a minute late, and then has to be received. */
  lateMessageMs: 90_000,
  /** Older observations of a previous task are ignored: the queue may have been full in between. */
  observationAgeMsMax: 15_000,
  notYetDueRowsMax: 10_000,
  notYetDueSinceMs: 2_000,
  overtakenMs: 120_000,
  /** Running jobs, and newest events, whose 5th percentile is the mark; each job is read by its id. */
  overtakenSampleMax: 100,
  overtakenEventsMax: 300,
  relayRowsMax: 500,
  relayRoundsMax: 20,
} as const;
