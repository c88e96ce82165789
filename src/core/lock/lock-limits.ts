/** Bounds of taking and keeping a lock. */
export const lockLimits = {
  lockLeaseMs: 30_000,
  lockOutageMs: 10_000,
  lockErrorRetriesMax: 10,
  lockLooksPerLease: 10,
  fenceRaisesMax: 3,
} as const;
