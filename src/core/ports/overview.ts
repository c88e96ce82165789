import type { Instant, JobId } from "../job/job.ts";
import type { State } from "../job/state.ts";
import type { Pause } from "./pause.ts";

/** Open jobs of one lane in one state. */
export interface LiveCount {
  readonly lane: string;
  readonly state: State;
  readonly hold: "none" | "paused" | "slot";
  readonly blocked: boolean;
  readonly jobs: number;
  /** Those that are due. */
  readonly due: number;
  /** The earliest due time among them. */
  readonly oldestDueAt: Instant;
}

/** Where live jobs are looked for: each part is counted up to a bound. */
export type LivePart = "out" | "due" | "paused" | "slot" | "blocked";

export interface Live {
  readonly now: Instant;
  readonly counts: readonly LiveCount[];
  /** Parts that were not counted to their end: `out` and `paused` of one lane, the others of all (null). */
  readonly cut: readonly { readonly part: LivePart; readonly lane: string | null }[];
}

export interface LanePause {
  readonly lane: string;
  /** Null: it is on. */
  readonly pause: Pause | null;
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

export type SlotHolders = Omit<SlotUse, "waiting">;

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
  /** Jobs that were rescued from it because its lease expired. */
  readonly lost: number;
  readonly lostAt: Instant | null;
  readonly running: readonly WorkerJob[];
}

/** What Postgres knows about a lock of the lock store. */
export interface FenceView {
  readonly name: string;
  readonly token: number;
  readonly installedAt: Instant;
  /** Set while the lock store is away and this row is the lock. */
  readonly fallback: { readonly owner: string; readonly leaseUntil: Instant } | null;
}

/** The last pass of which every step succeeded, and its age by real time. */
export interface LastPass {
  readonly at: Instant;
  readonly ageMs: number;
}

/** What makes a stage unwell although passes go on. */
export interface Trouble {
  /** How far the database's clock stands behind the newest decision or the last pass: 0 when it did not step back. */
  readonly clockBehindMs: number;
  /** Messages that were sent again more than once and are still not confirmed, by lane; none are left out. */
  readonly resent: readonly { readonly lane: string; readonly messages: number }[];
}

/** Early signs of trouble. */
export interface Health {
  readonly now: Instant;
  /** Occurrences still PLANNED long after their time. */
  readonly overdue: number;
  /** Runs that are open for longer than `longRunMs`, counted up to a bound. */
  readonly longRuns: number;
  /** Percent of dead rows, of the table with the largest share; small tables are left out. */
  readonly deadRowsPercent: number;
  /** Age of the oldest transaction in milliseconds: vacuum keeps all rows that died since. */
  readonly oldestTransactionMs: number;
  /** How far the database's clock is behind the newest decision. It stepped back, and schedules wait until it has caught up. */
  readonly clockBehindMs: number;
}

/** How often what happened to jobs. */
interface Happened {
  readonly created: number;
  readonly succeeded: number;
  /** Jobs that ended FAILED. */
  readonly failed: number;
  /** Attempts that failed and are followed by another one. */
  readonly retried: number;
  readonly canceled: number;
  readonly skipped: number;
  /** Attempts whose worker stopped answering. */
  readonly lost: number;
}

/** What happened in one minute. */
export interface Minute extends Happened {
  readonly at: Instant;
  readonly started: number;
  /** Milliseconds that handlers ran, over the attempts that ended. */
  readonly runMs: number;
}

/** How many took how long. */
export interface Histogram {
  readonly count: number;
  readonly seconds: number;
  /** One count for each of `durationBuckets` and one for longer times; empty when nothing was counted. */
  readonly buckets: readonly number[];
}

/** Totals of one kind since the first start; they only grow. */
export interface KindTotal extends Happened {
  readonly kind: string;
  /** Attempts that succeeded or failed, by how long they took. */
  readonly attempts: Histogram;
  /** Those of them that failed. */
  readonly failedAttempts: Histogram;
  /** Starts, by how late they were. */
  readonly starts: Histogram;
  /** Attempts that were released: neither a success nor a failure. */
  readonly released: number;
  readonly itemsProcessed: number;
  readonly itemsSucceeded: number;
  readonly itemsFailed: number;
  readonly locksAcquired: number;
  readonly locksFailed: number;
}

/** The kind with the worst share, among kinds with enough events. */
export interface WorstKind {
  readonly kind: string;
  readonly percent: number;
}

/** What failed lately, and what waits for a person. */
export interface Failures {
  /** Jobs that ended FAILED in the last `failuresMs`; counted up to a bound, as the others. */
  readonly jobs: number;
  /** Runs, likewise. */
  readonly runs: number;
  /** All jobs that are FAILED now. */
  readonly dead: number;
  /** Over the last `worstKindMs`; null where no kind has any. */
  readonly worst: Readonly<Record<WorstIn, WorstKind | null>>;
}

/** Jobs that ended FAILED, failed items of batches, slow attempts, late starts, locks that were not acquired. */
export const worstIn = ["failed", "items.failed", "slow", "late", "lock.failed"] as const;
export type WorstIn = (typeof worstIn)[number];

/** Upper bounds in seconds. */
export const durationBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3_600] as const;
