/** Bounds of runs and of what one statement does with them. */
export const runLimits = {
  graphProblemsShownMax: 20,
  edgesShownMax: 1_000,
  wideJoinOver: 32,
  insertTasksMax: 10_000,
  insertEdgesMax: 50_000,
  releasedRowsMax: 500,
  resolveRowsMax: 200,
  resolveRoundsMax: 10,
  passResolveRoundsMax: 100,
  runDeltasMax: 100,
  /** Open runs that one pass looks at; the next pass goes on behind them. */
  passRunsMax: 250,
  summedRunsMax: 100,
  cancelRowsMax: 1_000,
  /** More jobs than these are put back in pages, by a bulk action. */
  retriedRowsMax: 1_000,
  cancelRoundsMax: 1_000,
  cancelingRunsMax: 10,
  prunedRunsMax: 100,
  prematerializedRunsMax: 1_000,
  /** A change of a schedule this short before a nominal time counts as one after it: longer than its transaction mostly takes. */
  prematerializedMarginMs: 3_000,
  /** A change that has taken longer must have this much left for its commit. Else it is made again, as one after that time. */
  changeCommitMs: 1_000,
  withdrawnKeyCharactersMax: 480,
  fanOutPageRowsMax: 1_000,
} as const;
