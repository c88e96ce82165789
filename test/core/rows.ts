import type { NewJob } from "../../src/core/job/job.ts";
import { contractLimits } from "../../src/core/job/contract-limits.ts";

/** A row as `newJob` would make it, for tests that need one no definition of today would write. */
export const aRow: NewJob = {
  kind: "k",
  key: null,
  payload: null,
  canonicalInput: "null",
  lane: "default",
  dueAt: null,
  delayMs: 0,
  expiresAt: null,
  leaseMs: 20_000,
  maxAttempts: 4,
  retentionMs: contractLimits.retentionMsDefault,
  slotKeys: [],
  trace: "t",
};
