import type { JobId, NewJob } from "../../src/machine/job.ts";
import type { Claimed } from "../../src/machine/store.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";

/** A row as `newJob` would make it, for tests that need one no definition of today would write. */
export const aRow: NewJob = {
  kind: "k",
  key: null,
  payload: null,
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

/** A row as a claim returns it. */
export const aClaimed = (id: string, over: Partial<Claimed> = {}): Claimed => ({
  jobId: id as JobId,
  state: "RUNNING",
  reason: null,
  kind: "k",
  key: null,
  payload: null,
  generation: 1,
  attempt: 1,
  failures: 0,
  interruptions: 0,
  maxAttempts: 4,
  leaseMs: 20_000,
  trace: "t",
  slotKeys: [],
  dueAt: 0,
  scheduleId: null,
  scheduledFor: null,
  effectiveAt: null,
  latenessMs: 0,
  isCatchUp: false,
  missedCount: 0,
  ...over,
});
