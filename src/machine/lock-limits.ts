/** Bounds of taking and keeping a lock. */
export const lockLimits = {
  lockLeaseMs: 30_000,
  lockOutageMs: 10_000,
  lockErrorRetriesMax: 10,
  lockLooksPerLease: 10,
  /**
   * At most so much of a lease counts for the time between two tasks, which only the database's clock knows. When that steps, the
   * holder was silent for the rest of its lease all the same, and that is longer than between two of its heartbeats.
   */
  lockGapShareMax: 1 / 2,
  fenceRaisesMax: 3,
} as const;
