export const postgresLimits = {
  /** A connection that what comes each minute finds again: opening one costs the server more than that work. */
  connectionIdleMs: 70_000,
  partitionDaysAhead: 7,
  keptPlanRowsMax: 50,
  serializationRetriesMax: 3,
  serializationRetryMs: 50,
  migrationLockMs: 5_000,
  handlerLockMs: 10_000,
  connectMs: 5_000,
  connectionWaitMs: 60_000,
  statementMs: 20_000,
  idleInTransactionMs: 30_000,
  commitLooksMax: 20,
  commitLookMs: 100,
  fenceWaitMs: 300,
  fenceInstallTriesMax: 20,
  /** How long the slots of a key of a cap stay at least. */
  keyForgottenMs: 60 * 60_000,
} as const;
