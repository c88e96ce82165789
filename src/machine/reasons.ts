/**
 * The stored reasons of moves and of decisions about nominal times. The console, `explain` and the statements use only these;
 * a test finds any other.
 */
export const reasons = {
  // the end of an attempt
  retry: "retry",
  retryBudget: "retry budget",
  permanent: "permanent",
  ambiguous: "ambiguous",
  attemptsUsedUp: "attempts used up",
  interrupted: "interrupted",
  neverStarted: "never started",
  postponed: "postponed",
  stopped: "stopped",
  deadline: "deadline",
  taskStopped: "task stopped",
  lost: "lost",
  lapsed: "lapsed",
  storeAway: "store-away",
  // the queue
  messageLost: "message-lost",
  undelivered: "undelivered",
  undeliverable: "undeliverable",
  // decided at a claim
  slot: "slot",
  lockHeld: "lock-held",
  overlap: "overlap",
  replaced: "replaced",
  paused: "paused",
  lanePaused: "lane paused",
  blackout: "blackout",
  circuitOpen: "circuit open",
  disabled: "disabled",
  expired: "expired",
  // runs
  upstream: "upstream",
  notTaken: "not taken",
  noLongerWanted: "no longer wanted",
  runStopped: "run stopped",
  runCanceled: "run canceled",
  resumed: "resumed",
  removed: "removed",
  // operators
  canceled: "canceled",
  runNow: "run now",
  signal: "signal",
  backfill: "backfill",
  // schedules
  withdrawn: "withdrawn",
  deleted: "deleted",
  misfire: "misfire",
  dstGap: "dst-gap",
  excluded: "excluded",
  notFollowed: "not-followed",
  noJob: "no-job",
  payload: "payload",
} as const;
export type Reason = (typeof reasons)[keyof typeof reasons];
