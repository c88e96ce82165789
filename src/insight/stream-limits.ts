export const streamLimits = {
  streamRowsMax: 1_000,
  streamSeenMax: 20_000,
  streamLookMs: 250,
  streamCommentMs: 1_000,
  streamCloseMs: 55_000,
  streamRetryMs: 1_000,
  /** Until a client of a stream that ends at once asks again. */
  streamPollMs: 3_000,
  streamBufferBytesMax: 1_048_576,
  streamSnapshotJobsMax: 100,
  /** Open transactions that a cursor names: two snapshots of so many are under 10 KB, and servers take 16 KB of headers. */
  streamOpenMax: 200,
} as const;
