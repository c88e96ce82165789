/** All bounds under one name, until the SQL adapter, its tests and the bench read those of their owners. */
import { contractLimits } from "./job/contract-limits.ts";
import { lockLimits } from "./lock/lock-limits.ts";
import { deliveryLimits } from "./ports/delivery-limits.ts";
import { operationsLimits } from "./ports/operations-limits.ts";
import { publishLimits } from "./ports/publish-limits.ts";
import { runLimits } from "./ports/run-limits.ts";
import { scheduleLimits } from "./ports/schedule-limits.ts";
import { streamLimits } from "./ports/stream-limits.ts";
import { passLimits } from "./scheduler/pass-limits.ts";
import { workerLimits } from "./work/worker-limits.ts";

export const limits = {
  ...contractLimits,
  ...deliveryLimits,
  ...lockLimits,
  ...operationsLimits,
  ...passLimits,
  ...publishLimits,
  ...runLimits,
  ...scheduleLimits,
  ...streamLimits,
  ...workerLimits,
  // Of the SQL adapter alone.
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
} as const;
