/** Bounds of the publisher of events: the time of a sink ends before the lease does. */
export const publishLimits = {
  publishRowsMax: 100,
  publishMs: 15_000,
  publishCallMs: 5_000,
  publishLeaseMs: 30_000,
  publishRetryMs: 1_000,
  publishRetryMsMax: 300_000,
} as const;
