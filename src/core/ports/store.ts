/** The port to the truth: Postgres in production, the reference store in memory as its oracle. */
import type { Fence } from "./fence.ts";
import type { Aftermath } from "./aftermath.ts";
import type { Decision } from "../job/decide.ts";
import type { Message, OutboxBatch } from "./outbox.ts";
import type { HistoryRow, Instant, JobId, JobView, Json, NewJob, SlotGroup } from "../job/job.ts";
import type { InRun, RunStore } from "./run.ts";
import type { OccurrencePlace, OccurrenceView, PlannedSchedule, ScheduleRow, ScheduleSpec } from "./schedule.ts";
import type { ScheduleControlStore } from "./schedule-store.ts";
import type { FallbackLock } from "./fallback-lock.ts";
import type { State } from "../job/state.ts";
import type { InSameTransaction, MovedRows, StoreTx, Tx } from "./transaction.ts";

export interface InsertResult {
  /** The id of the new row, or of the row that already has this key. */
  readonly id: JobId;
  readonly created: boolean;
  /** Set when the existing row was enqueued with another payload. */
  readonly conflict: { readonly existingHash: string; readonly hash: string } | null;
}

export interface Inserted {
  /** In the order of the input. */
  readonly results: readonly InsertResult[];
  readonly aftermath: Aftermath;
}

/** What a claim did with one row. */
export interface Claimed {
  readonly jobId: JobId;
  /** RUNNING: ours to run. PENDING: held for a slot. SKIPPED or FAILED: decided at claim. */
  readonly state: State;
  readonly reason: string | null;
  readonly kind: string;
  readonly key: string | null;
  readonly payload: Json;
  readonly generation: number;
  readonly attempt: number;
  readonly failures: number;
  readonly interruptions: number;
  readonly maxAttempts: number;
  readonly leaseMs: number;
  readonly trace: string;
  readonly slotKeys: readonly string[];
  readonly dueAt: Instant;
  readonly scheduleId: string | null;
  readonly scheduledFor: Instant | null;
  /** Milliseconds between the nominal (or due) time and the claim, by the database's clock; never negative. */
  readonly latenessMs: number;
  readonly isCatchUp: boolean;
  readonly missedCount: number;
  /** Set for a job of a run. */
  readonly run?: InRun;
}

/** A queue that shows no visible message. */
export interface QueueObservation {
  readonly lane: string;
  readonly emptyMs: number;
}

/** A lease that was not renewed in time. `until` tells one that was renewed since. */
export interface LapsedLease {
  readonly id: string;
  readonly until: Instant;
}

/** What a row that a claim did not return looks like now. */
export interface JobPeek {
  readonly jobId: JobId;
  readonly state: State;
  readonly generation: number;
  /** Milliseconds until it is due; 0 or less when due. */
  readonly dueInMs: number;
  /** Lost its worker in a batch before: must be claimed with `alone`. */
  readonly suspect: boolean;
  /** A condition is asked before it may be claimed: `claim` wants it in `asked`. */
  readonly hasCondition?: boolean;
}

/** One try of one job. */
export interface AttemptRef {
  readonly jobId: JobId;
  readonly attempt: number;
}

export interface HeldAttempt extends AttemptRef {
  readonly progress?: number;
}

/** One outcome to write, decided by `decide`. */
export interface Settlement extends Decision {
  readonly jobId: JobId;
  readonly attempt: number;
  /** Written only if the row is still this attempt's: a fenced attempt leaves no children. */
  readonly children: readonly NewJob[];
  /** A hint that saves the store two reads; without it the outcome is the same. */
  readonly inRun?: boolean;
}

export interface Settled {
  /** Ids that were written. Missing = someone else moved the row: not an error. */
  readonly settled: readonly JobId[];
  readonly aftermath: Aftermath;
  /** Children whose key exists with another payload: the first one stays, and the handler is gone that could be told. */
  readonly conflicts: number;
}

export interface JobFilter {
  readonly states?: readonly State[];
  readonly kind?: string;
  readonly lane?: string;
  readonly key?: string;
  /** Rows with a smaller id: the cursor of the next page. */
  readonly before?: JobId;
  readonly limit: number;
}

/**
 * How many jobs are in each state, at a cost that does not grow with the table: at most `operationsLimits.countedRowsMax` of each, so
 * that number means "so many or more". SUCCESS, CANCELED and SKIPPED are those among the newest `countedRowsMax` jobs.
 */
export type JobCounts = Readonly<Record<State, number>> & {
  /** Of those PENDING, QUEUED and RETRY_WAIT, how many are due only later. */
  readonly notYetDue: number;
};

export interface Pruned {
  readonly jobs: number;
  readonly occurrences: number;
  readonly partitions: number;
}

/**
 * The truth. Every method is one transaction; every write is a compare-and-set; the returned rows say what happened.
 * A method that takes a `fence` checks it first and throws `FenceLost`.
 */
export interface Store extends FallbackLock, ScheduleControlStore, RunStore {
  now(): Promise<Instant>;

  /**
   * Inserts jobs with one event each; QUEUED with a hand-off row when due within the dispatch window, else PENDING.
   * `lockWaitMs`: how long to wait for a key that another open transaction inserts; default `limits.claimLockTimeoutMs`.
   */
  insert(
    jobs: readonly NewJob[],
    options: { dispatchWindowMs: number; tx?: Tx; fence?: Fence; lockWaitMs?: number },
  ): Promise<Inserted>;
  /** Creates or resizes slot groups. */
  installSlots(groups: readonly SlotGroup[]): Promise<void>;

  /** Waiting rows that may start and are due within the dispatch window -> QUEUED, `(due_at, id)` order, SKIP LOCKED. */
  relay(options: {
    dispatchWindowMs: number;
    limit: number;
    lane?: string;
    fence?: Fence;
  }): Promise<readonly OutboxBatch[]>;
  /** Deletes fully confirmed hand-offs; keeps the failed ids of the others. */
  confirm(sent: readonly { id: string; failed: readonly JobId[] }[]): Promise<void>;
  /** Open hand-offs older than `olderThanMs`, rewritten under new rows for what still waits under that generation. */
  reopen(options: {
    olderThanMs: number;
    limit: number;
    lane?: string;
    fence?: Fence;
  }): Promise<readonly OutboxBatch[]>;
  /**
   * QUEUED rows whose message is presumed lost -> PENDING under a new generation, reason `message-lost`; the relay
   * sends them again. Never by age alone. `queue-empty`: the caller saw the lane's queue empty twice, nothing was claimed
   * in between, and the row was handed off and due `olderThanMs` ago. `overtaken`: it was also handed off and due 2 minutes
   * before the 5th percentile of the lane's running jobs. @returns the number of rows; the caller relays the lane.
   */
  requeueLost(options: {
    lane: string;
    evidence: "queue-empty" | "overtaken";
    olderThanMs: number;
    limit: number;
    fence?: Fence;
  }): Promise<number>;
  /** For how long each lane's queue was seen empty by the scheduler task before, if it kept that within `maxAgeMs`. */
  queueObservations(options: { maxAgeMs: number }): Promise<readonly QueueObservation[]>;
  /** Leaves to the next scheduler task what this one saw of the queues, in place of what was there. */
  saveQueueObservations(sights: readonly QueueObservation[]): Promise<void>;
  /** QUEUED rows of a lane that are due in what a queue can delay, or are due for less than `sinceMs`: counted up to `limit`. */
  countNotYetDue(options: { lane: string; sinceMs: number; limit: number }): Promise<number>;
  /** After the commit that freed or was refused a slot: hands off as many held rows as there are free slots. */
  wake(options: { slotKeys: readonly string[] | "all"; limit: number; fence?: Fence }): Promise<readonly OutboxBatch[]>;

  /**
   * Claims due QUEUED rows by (id, generation), in id order, waiting briefly for locks.
   * Rows with `suspect` are left out unless `alone`, rows that ask unless their condition was `asked` and said yes.
   * Also decides pause, expiry, slots and the end of their run; occurrences follow.
   */
  claim(
    messages: readonly Message[],
    options: { worker: string; alone: boolean; asked?: readonly JobId[] },
  ): Promise<{ readonly claimed: readonly Claimed[]; readonly aftermath: Aftermath }>;
  peek(ids: readonly JobId[]): Promise<readonly JobPeek[]>;
  /**
   * Extends leases and stores progress. @returns the tries still held, by id and attempt: a worker may still run an
   * attempt it has lost beside the newest one of the same job.
   */
  heartbeat(held: readonly HeldAttempt[], worker: string): Promise<readonly AttemptRef[]>;
  /** Lets the lease of this worker's try last `leaseMs` from now. @returns false when it is no longer this worker's. */
  extendLease(held: AttemptRef, options: { worker: string; leaseMs: number }): Promise<boolean>;
  /**
   * The try passes from the worker `from` to `worker`, which runs it alone, with the lease of its kind. Once: whoever comes
   * second finds another worker there. @returns the job as a claim would, or null when the try is not `from`'s.
   */
  takeOver(held: AttemptRef, options: { from: string; worker: string }): Promise<Claimed | null>;
  /** Plain and full settle. `tx`: as the last statement of a handler's own transaction, one settlement. */
  settle(
    settlements: readonly Settlement[],
    options: { worker: string; dispatchWindowMs: number; tx?: Tx; inSameTransaction?: InSameTransaction },
  ): Promise<Settled>;
  /**
   * READ COMMITTED on a connection of its own; commits when `work` resolves, else rolls back. `abandoned`: nobody waits for
   * it any more, so its connection is ended at once, whatever it does: one that a network has lost would be kept for ever.
   */
  transaction<T>(work: (tx: StoreTx) => Promise<T>, options?: { abandoned?: AbortSignal }): Promise<T>;
  /** Frees the slots a canceled job kept until its handler was gone. */
  freeSlots(held: readonly HeldAttempt[]): Promise<Aftermath>;

  /** A message died unclaimed: QUEUED under that generation -> PENDING (or FAILED after `undeliveredMax`). */
  returnUndelivered(
    messages: readonly Message[],
    options: { undeliveredMax: number; backoffMs: number; inSameTransaction?: InSameTransaction },
  ): Promise<MovedRows>;
  /** Keeps a body nobody could read. */
  quarantine(lane: string, bodies: readonly string[]): Promise<void>;

  /** Leases past their end, the oldest first. */
  lapsedLeases(options: { limit: number; lane?: string | undefined }): Promise<readonly LapsedLease[]>;
  /**
   * RUNNING past its lease. Ran alone: failures + 1, due now; else interruptions + 1, to run alone. `leases` narrows it to
   * these, if they are still past their end.
   */
  rescue(options: {
    leases?: readonly string[] | undefined;
    limit: number;
    interruptionsMax: number;
    lane?: string;
    fence?: Fence;
    inSameTransaction?: InSameTransaction;
  }): Promise<MovedRows>;

  cancel(ids: readonly JobId[], inSameTransaction?: InSameTransaction): Promise<MovedRows>;
  /**
   * FAILED, CANCELED or SKIPPED -> QUEUED, due now, counters reset, attempt kept; their own messages are in the aftermath.
   * Jobs of runs are left out: `resumeRun`. @returns the ids that run again.
   */
  retry(ids: readonly JobId[]): Promise<{ readonly ids: readonly JobId[]; readonly aftermath: Aftermath }>;
  /**
   * Finished single jobs past their retention, decided occurrences and event and attempt partitions past `contractLimits.historyMs`;
   * makes the next partitions. At most `limit` rows of each.
   */
  prune(options: { limit: number; fence?: Fence }): Promise<Pruned>;

  /**
   * Installs the token if it is larger than the one in force, after fenced transactions under way.
   * @returns the token that was in force before: the new one was installed exactly if this is smaller. An equal one is
   * another holder's (a lock store that was away or was restored may hand out a token twice), or this one's whose answer
   * was lost; either way the caller needs a larger one.
   */
  installFence(fence: Fence): Promise<number>;

  /**
   * Writes schedules that come from code: new ones, new versions when the spec changed. What code no longer has is
   * removed, for the apps of the specs and for `apps`: one that has no schedule left is named only there.
   */
  installSchedules(specs: readonly ScheduleSpec[], options?: { readonly apps?: readonly string[] }): Promise<void>;
  /** Active schedules whose next nominal time lies before now + `horizonMs`, oldest first. */
  dueSchedules(options: {
    horizonMs: number;
    limit: number;
  }): Promise<{ now: Instant; schedules: readonly ScheduleRow[] }>;
  /** Occurrences and their jobs, and `decided_until` forward: one statement, schedules locked by id at their version. */
  plan(
    plans: readonly PlannedSchedule[],
    options: { dispatchWindowMs: number; fence?: Fence },
  ): Promise<{
    occurrences: number;
    aftermath: Aftermath;
  }>;

  /** With its kept moves, the oldest first: `attemptsOf` and `movesOf` in `job/history.ts` read them. */
  job(id: JobId): Promise<{ job: JobView; history: readonly HistoryRow[] } | null>;
  jobs(filter: JobFilter): Promise<readonly JobView[]>;
  counts(): Promise<JobCounts>;
  /** By id, those with a larger one than `after`: at most `limit`, `contractLimits.schedulesMax` when left out. */
  schedules(page?: { readonly after?: string; readonly limit?: number }): Promise<readonly ScheduleRow[]>;
  /** The newest first; `after` is the last row of the page before. */
  occurrences(scheduleId: string, limit: number, after?: OccurrencePlace): Promise<readonly OccurrenceView[]>;
}
