import type { Instant, JobId } from "../job/job.ts";
import type { State } from "../job/state.ts";

/** Jobs of one lane that have not ended and stand alike. */
export interface LiveCount {
  readonly lane: string;
  readonly state: State;
  readonly hold: "none" | "paused" | "slot";
  readonly blocked: boolean;
  readonly jobs: number;
  /** The ones whose time has come. */
  readonly due: number;
  /** The earliest due time among them. */
  readonly oldestDueAt: Instant;
}

export interface Live {
  readonly now: Instant;
  readonly counts: readonly LiveCount[];
  /** More jobs are live than were counted. */
  readonly isMore: boolean;
}

export interface LanePause {
  readonly lane: string;
  readonly paused: boolean;
  readonly pausedBy: string | null;
  readonly pausedAt: Instant | null;
}

/** A slot group that is in use or waited for, with who holds it. */
export interface SlotUse {
  readonly key: string;
  readonly size: number;
  readonly taken: number;
  /** Waiting for one of its slots; stops at `operationsLimits.countRowsMax`. */
  readonly waiting: number;
  readonly holders: readonly { readonly jobId: JobId; readonly kind: string | null; readonly since: Instant | null }[];
}

export interface WorkerJob {
  readonly jobId: JobId;
  readonly kind: string;
  readonly attempt: number;
  readonly progress: number | null;
  readonly startedAt: Instant;
  readonly leaseUntil: Instant;
  /** When its lease was last extended. */
  readonly beatAt: Instant;
}

export interface WorkerView {
  readonly id: string;
  readonly lane: string | null;
  readonly version: string | null;
  readonly startedAt: Instant | null;
  /** The last thing known of it: a heartbeat, a claim or an end. */
  readonly seenAt: Instant;
  readonly ended: number;
  readonly failed: number;
  /** Jobs that were taken from it because its lease had passed. */
  readonly lost: number;
  readonly lostAt: Instant | null;
  readonly running: readonly WorkerJob[];
}

/** What Postgres knows about a lock of the lock store. */
export interface FenceView {
  readonly name: string;
  readonly token: number;
  readonly installedAt: Instant;
  /** Set while the lock store is away and this row stands in. */
  readonly standIn: { readonly owner: string; readonly leaseUntil: Instant } | null;
}

/** What says that something is going wrong before anything has. */
export interface Health {
  readonly now: Instant;
  /** Occurrences whose time is past and that nothing was decided about. */
  readonly overdue: number;
  /** Runs that are open for longer than `longRunMs`, counted up to a bound. */
  readonly longRuns: number;
  /** Of the table that has the largest share of them, in percent; small tables are left out. */
  readonly deadRowsPercent: number;
  /** The age in milliseconds of the oldest transaction: rows that died since are kept for it. */
  readonly oldestTransactionMs: number;
  /** How far the database's clock stands behind the newest decision: it stepped back, so schedules wait until it is there again. */
  readonly clockBehindMs: number;
}

/** What happened in one minute. */
export interface Minute {
  readonly at: Instant;
  readonly created: number;
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly retried: number;
  readonly canceled: number;
  readonly skipped: number;
  readonly lost: number;
  /** Milliseconds that handlers ran, over the tries that ended. */
  readonly runMs: number;
}

/** How often something took how long. */
export interface Histogram {
  readonly count: number;
  readonly seconds: number;
  /** One count for each of `durationBuckets` and one for what took longer; empty when there was none. */
  readonly buckets: readonly number[];
}

/** Totals of one kind since the first start; they only grow. */
export interface KindTotal {
  readonly kind: string;
  /** Tries that succeeded or failed, by how long they took. */
  readonly tries: Histogram;
  /** Those of them that failed. */
  readonly failedTries: Histogram;
  /** Starts, by how late they were. */
  readonly starts: Histogram;
  readonly created: number;
  readonly succeeded: number;
  /** Jobs that ended FAILED. */
  readonly failed: number;
  /** Tries that failed and are followed by another one. */
  readonly retried: number;
  /** Tries whose worker stopped answering. */
  readonly lost: number;
  /** Tries that were given back, neither good nor bad. */
  readonly released: number;
  readonly canceled: number;
  readonly skipped: number;
  readonly itemsProcessed: number;
  readonly itemsSucceeded: number;
  readonly itemsFailed: number;
  readonly locksAcquired: number;
  readonly locksFailed: number;
}

/** The kind that does worst, of those that did it often enough to tell. */
export interface WorstKind {
  readonly kind: string;
  readonly percent: number;
}

/** What failed lately, and what waits for a person. */
export interface Failures {
  /** Jobs that ended FAILED in the last `limits.failuresMs`; counted up to a bound, as the others. */
  readonly jobs: number;
  /** Runs, likewise. */
  readonly runs: number;
  /** Jobs that are FAILED, since whenever. */
  readonly dead: number;
  /** Over the last `limits.worstKindMs`; null where no kind has any. */
  readonly worst: Readonly<Record<WorstIn, WorstKind | null>>;
}

/** Jobs that ended FAILED, items of batches that failed, slow tries, late starts, locks that were not got. */
export const worstIn = ["failed", "items.failed", "slow", "late", "lock.failed"] as const;
export type WorstIn = (typeof worstIn)[number];

/** Upper bounds in seconds. */
export const durationBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600] as const;
