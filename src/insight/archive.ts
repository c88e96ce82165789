import type { Instant } from "../machine/job.ts";

/** What leaves together: single jobs; jobs of runs with the runs that close; and rows of one table each. */
export const archiveParts = ["jobs", "runs", "occurrences", "audit", "events", "history"] as const;
export type ArchivePart = (typeof archiveParts)[number];

/** Whose rows an object holds. */
export type ArchivedTable = "job" | "run" | "occurrence" | "audit" | "event" | "history";

export interface ArchivedRow {
  readonly table: ArchivedTable;
  /** A whole number as text, by which an object names its first and its last row. */
  readonly number: string;
  /** Of a job, of its run or its history; null for other rows. */
  readonly kind: string | null;
  /** Its end; of a run's job, that of the run. */
  readonly at: Instant;
  /** The row as one line of JSON, in UTC and with ids as text. */
  readonly line: string;
}

/** Rows past their retention, of one day. `Leaving` is how their source finds exactly these again. */
export interface ArchiveBatch<Leaving = unknown> {
  readonly part: ArchivePart;
  readonly rows: readonly ArchivedRow[];
  /** As many as are written at once: more may wait already. */
  readonly isFull: boolean;
  readonly leaving: Leaving;
}

export interface ArchiveWritten {
  readonly objects: number;
  readonly bytes: number;
}

/** The rows that wait for the archive. Safe in any number of processes at once: each step is a compare-and-set. */
export interface ArchiveSource {
  /** Null: nothing is past its retention, or so few rows that they wait for more. */
  next(part: ArchivePart): Promise<ArchiveBatch | null>;
  /**
   * Deletes these rows and counts them, in one transaction.
   * @returns false when one of them is not as it was read: then all of them stay.
   */
  leave(batch: ArchiveBatch, written: ArchiveWritten): Promise<boolean>;
  /** Notes that the rows of this part stay because they could not be written. */
  failed(part: ArchivePart, error: string): Promise<void>;
}

export interface ObjectStore {
  /** For messages: `s3://bucket/stage` or a path. */
  readonly where: string;
  /** Writes the whole object, or throws; the same name again replaces it. It is durable when this resolves. */
  write(name: string, body: Uint8Array): Promise<void>;
  /** @throws when it is not there. */
  read(name: string): Promise<Uint8Array>;
}

/** Bounds of one object of the archive, and of how long rows wait for it. */
export const archiveLimits = {
  objectRowsMax: 1_000,
  /** Before compression; one more row may cross it. */
  objectBytesMax: 8 * 1024 * 1024,
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
