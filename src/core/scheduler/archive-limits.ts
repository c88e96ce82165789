/** Bounds of one object of the archive, and of how long rows wait for it. */
export const archiveLimits = {
  objectRowsMax: 1_000,
  /** Before compression; one more row may cross it. */
  objectBytesMax: 8 * 1024 * 1024,
  /** Runs that one batch looks at. */
  batchRunsMax: 100,
  /** Half an object's rows are written at once; fewer wait this long for more, as each object costs a request. */
  rowsWaitMs: 3_600_000,
  /** Between two looks at a part that had nothing to write. */
  lookMs: 60_000,
  /** After a write that failed; all parts share the store, so all wait. */
  retryMs: 30_000,
  /** Of a failure that is kept for people. */
  failureCharactersMax: 500,
} as const;
