/** The port to the database: Postgres in production, the reference store in memory as its oracle. */
import type { BatchStore } from "./batch-store.ts";
import type { FallbackLock, Fence, InsertSettings } from "./fence.ts";
import type { CircuitStore } from "./circuit-store.ts";
import type { Decision } from "./decide.ts";
import type { Aftermath, KeptBatch, Message, OutboxBatch } from "./outbox.ts";
import type { AttemptRef, Instant, JobId, JobView, Json, NewJob } from "./job.ts";
import type { InRun, RunStore } from "./run.ts";
import type { ChainPage, PlannedSchedule, ScheduleRow, ScheduleSpec } from "./schedule.ts";
import type { ScheduleControlStore } from "./schedule-store.ts";
import type { LaneStore } from "./lane-store.ts";
import type { SlotStore } from "./slot-store.ts";
import type { State } from "./state.ts";
import type { TurnStore } from "./turn-store.ts";
import type { Actor, InSameTransaction, MovedRows, StoreTx, Tx } from "./transaction.ts";

export interface InsertResult {
  /** The id of the new row, or of the row that already has this key. */
  readonly id: JobId;
  readonly created: boolean;
  /** The existing row was enqueued with another payload. */
  readonly isConflict: boolean;
}

export interface Inserted {
  /** In the order of the input. */
  readonly results: readonly InsertResult[];
  readonly aftermath: Aftermath;
}

/** What a claim did with one row. */
export interface Claimed {
  readonly jobId: JobId;
  /** RUNNING: to run now. PENDING: held for a slot. SKIPPED or CANCELED: decided at the claim. */
  readonly state: "RUNNING" | "PENDING" | "SKIPPED" | "CANCELED";
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
  /** When that time was due, if its schedule is spread. */
  readonly effectiveAt: Instant | null;
  /** Milliseconds between the time it was due and the claim, by the database's clock; never negative. */
  readonly latenessMs: number;
  readonly isCatchUp: boolean;
  readonly missedCount: number;
  /** Set for a job of a run. */
  readonly run?: InRun;
  /** Set for one that may replace earlier times: `replaced` says which. */
  readonly replaces?: true;
}

/** A queue that shows no visible message. */
export interface QueueObservation {
  readonly lane: string;
  readonly emptyMs: number;
}

/** A lease that was not renewed in time. A later `until` means that it was renewed since; 0: its worker is known to be dead. */
export interface LapsedLease {
  readonly id: string;
  readonly until: Instant;
  readonly ms: number;
}

/** The present state of a row, without what only people read. */
export interface JobPeek {
  readonly jobId: JobId;
  readonly state: State;
  readonly generation: number;
  readonly attempt: number;
  /** Of the newest attempt, also after its end. */
  readonly worker: string | null;
  /** Milliseconds since it was created. */
  readonly ageMs: number;
  /** Milliseconds until it is due; 0 or less when due. */
  readonly dueInMs: number;
  /** It lost its worker in a batch before: it must be claimed `alone`. */
  readonly alone: boolean;
  /** Its condition must be evaluated before a claim, and the job named in `asked`. */
  readonly hasCondition?: boolean;
}

export interface AttemptProgress extends AttemptRef {
  readonly progress?: number;
}

/** One outcome to write, decided by `decide`. */
export interface Settlement extends Decision {
  readonly jobId: JobId;
  readonly attempt: number;
  /** Written only if the row is still this attempt's: a fenced attempt leaves no children. */
  readonly children: readonly NewJob[];
  /** Hints that save the store a statement; they do not change the outcome. */
  readonly inRun?: boolean;
  readonly hasSlots?: boolean;
  /** A retry waits for its turn, however soon it is due. */
  readonly takesTurns?: boolean;
}

export interface Settled {
  /** Ids that were written. A missing id is no error: another process moved the row. */
  readonly settled: readonly JobId[];
  readonly aftermath: Aftermath;
  /** Children whose key exists with another payload. The existing job stays; the handler has ended and gets no error. */
  readonly conflicts: number;
}

/** At most `limit` rows, of one lane or of all. */
export interface Round {
  readonly limit: number;
  readonly lane?: string | undefined;
  readonly fence?: Fence | undefined;
}

export interface Pruned {
  readonly jobs: number;
  readonly occurrences: number;
  readonly partitions: number;
}

/**
 * Every method is one transaction; every write is a compare-and-set; the returned rows say what happened.
 * A method that takes a `fence` checks it first and throws `FenceLost`.
 */
export interface Store
  extends BatchStore, CircuitStore, FallbackLock, LaneStore, ScheduleControlStore, RunStore, SlotStore, TurnStore {
  /** How long before its due time a job may be dispatched, by every method that dispatches. */
  readonly dispatchWindowMs: number;

  now(): Promise<Instant>;

  /**
   * Inserts jobs and their event; QUEUED with an outbox batch when due within the dispatch window, else PENDING.
   * `lockWaitMs`: how long to wait for a key that another open transaction inserts; default `claimLockTimeoutMs`.
   */
  insert(jobs: readonly NewJob[], options?: InsertSettings): Promise<Inserted>;

  /** Waiting rows that may start and are due within the dispatch window -> QUEUED, `(due_at, id)` order, SKIP LOCKED. */
  relay(round: Round): Promise<readonly OutboxBatch[]>;
  /** Deletes fully confirmed outbox batches; keeps the failed ids of the others. */
  confirm(sent: readonly { id: string; failed: readonly JobId[] }[]): Promise<void>;
  /** Takes what was sent out of batches, and keeps the rest from `reopen`. @returns those that are still the caller's. */
  keep(batches: readonly KeptBatch[]): Promise<ReadonlySet<string>>;
  /** Open batches that no sender kept for `olderThanMs`, oldest first, with what still waits: `messagesMax`, but one batch at least. */
  reopen(options: Round & { olderThanMs: number; messagesMax: number }): Promise<readonly OutboxBatch[]>;
  /**
   * QUEUED rows whose message is presumed lost -> PENDING under a new generation, reason `message-lost`; the relay
   * sends them again. Never by age alone. `queue-empty`: the caller saw the lane's queue empty twice, nothing was claimed
   * in between, and the row was dispatched and due `olderThanMs` ago. `overtaken`: it was also dispatched and due 2 minutes
   * before the 5th percentile of the lane's running jobs. @returns the number of rows; the caller relays the lane.
   */
  requeueLost(
    options: Round & { lane: string; evidence: "queue-empty" | "overtaken"; olderThanMs: number },
  ): Promise<number>;
  /** How long the previous scheduler task saw each lane's queue empty, if it saved that within `maxAgeMs`. */
  queueObservations(options: { maxAgeMs: number }): Promise<readonly QueueObservation[]>;
  /** Replaces the saved observations, for the next scheduler task. */
  saveQueueObservations(observations: readonly QueueObservation[]): Promise<void>;
  /** QUEUED rows of a lane that are due within the longest queue delay, or became due less than `sinceMs` ago; up to `limit`. */
  countNotYetDue(options: { lane: string; sinceMs: number; limit: number }): Promise<number>;
  /** After the commit that freed or was refused a slot: dispatches as many held rows as there are free slots. */
  wake(options: {
    slotKeys: readonly string[] | "all";
    limit: number;
    fence?: Fence | undefined;
  }): Promise<readonly OutboxBatch[]>;

  /**
   * Claims due QUEUED rows by (id, generation), in id order, waiting briefly for locks.
   * Rows that must be claimed `alone` are left out unless it is set; rows with a condition, unless they are in `asked`: it said yes.
   * Also decides pause, expiry, slots and the end of their run; occurrences follow.
   */
  claim(
    messages: readonly Message[],
    options: { worker: string; alone: boolean; asked?: readonly JobId[] },
  ): Promise<{ readonly claimed: readonly Claimed[]; readonly aftermath: Aftermath }>;
  peek(ids: readonly JobId[]): Promise<readonly JobPeek[]>;
  /** Extends leases and stores progress. @returns the attempts still held: a worker may run a lost attempt beside the newest of its job. */
  heartbeat(held: readonly AttemptProgress[], worker: string): Promise<readonly AttemptRef[]>;
  /** Extends the lease of this worker's attempt to `leaseMs` from now. @returns false when this worker has lost it. */
  extendLease(held: AttemptRef, options: { worker: string; leaseMs: number }): Promise<boolean>;
  /**
   * Transfers the attempt, with the lease of its kind, from the worker `from` to `worker`. Only the first caller succeeds.
   * @returns the job as a claim would, or null when `from` does not hold the attempt.
   */
  takeOver(held: AttemptRef, options: { from: string; worker: string }): Promise<Claimed | null>;
  /** Plain and full settle. `tx`: as the last statement of a handler's own transaction, one settlement. */
  settle(
    settlements: readonly Settlement[],
    options: { worker: string; tx?: Tx; inSameTransaction?: InSameTransaction },
  ): Promise<Settled>;
  /**
   * READ COMMITTED on its own connection; commits when `work` resolves, else rolls back. `abandoned` ends the connection at
   * once: one that the network has lost would otherwise be kept for ever.
   */
  transaction<T>(work: (tx: StoreTx) => Promise<T>, options?: { abandoned?: AbortSignal }): Promise<T>;

  /** A message died unclaimed: QUEUED under that generation -> PENDING (or FAILED after `undeliveredMax`). */
  returnUndelivered(
    messages: readonly Message[],
    options: { undeliveredMax: number; backoffMs: number; inSameTransaction?: InSameTransaction },
  ): Promise<MovedRows>;
  /** Keeps a body that could not be read. */
  quarantine(lane: string, bodies: readonly string[]): Promise<void>;

  /** Of a dead worker, by the beginning of its name: a rescue takes its jobs at once, and ends their attempts with this sentence. */
  endLeases(worker: string, cause: string): Promise<void>;
  /** Of a worker that a debugger has stopped, by the beginning of its name: its leases begin again. */
  keepLeases(worker: string): Promise<void>;
  /** Of a worker that stands still: the cause, if its leases lapse. Its next heartbeat forgets it. */
  noteCause(worker: string, cause: string): Promise<void>;
  /** Expired leases, oldest first. */
  lapsedLeases(options: { limit: number; lane?: string | undefined }): Promise<readonly LapsedLease[]>;
  /**
   * RUNNING with an expired lease. Ran alone: failures + 1, due now; else interruptions + 1, to run alone. `leases` narrows
   * it to these, if they are still expired.
   */
  rescue(
    options: Round & {
      leases?: readonly string[] | undefined;
      interruptionsMax: number;
      inSameTransaction?: InSameTransaction;
    },
  ): Promise<MovedRows>;

  cancel(
    ids: readonly JobId[],
    options?: Actor & { reason?: "canceled" | "replaced"; inSameTransaction?: InSameTransaction },
  ): Promise<MovedRows>;
  /**
   * FAILED, CANCELED or SKIPPED -> PENDING, counters reset, attempt kept: the first due at `dueAt` (default and at the earliest now),
   * each other `paceMs` later (default 0). Those due within the dispatch window -> QUEUED at once; their messages are in the aftermath.
   * Jobs of runs are left out: `resumeRun`. @returns the ids that run again.
   */
  retry(
    ids: readonly JobId[],
    options?: Actor & { dueAt?: Instant; paceMs?: number },
  ): Promise<{ readonly ids: readonly JobId[]; readonly aftermath: Aftermath }>;
  /**
   * Finished single jobs and runs past their retention, decided occurrences and the partitions of events and history past
   * `contractLimits.historyMs`; makes the next partitions. At most `limit` rows of each.
   */
  prune(options: { limit: number; fence?: Fence | undefined }): Promise<Pruned>;

  /**
   * Installs the token if it is larger than the one in force; waits for fenced transactions under way.
   * @returns the token that was in force before: the new one was installed exactly if this is smaller. An equal one belongs
   * to another holder (a restored lock store may issue a token twice) or to this one, whose answer was lost; in both cases
   * the caller needs a larger one.
   */
  installFence(fence: Fence): Promise<number>;
  /** Notes that a pass under this token ended without a failed step. A token that is not the newest notes nothing. */
  passed(fence: Fence): Promise<void>;

  /**
   * Writes the schedules of code: new ones, and new versions when the spec changed. Schedules that code no longer has are
   * removed, for the apps of the specs and for `apps`, which also names apps without a schedule.
   */
  installSchedules(specs: readonly ScheduleSpec[], options?: { readonly apps?: readonly string[] }): Promise<void>;
  /** Active schedules whose next nominal time lies before now + `horizonMs`, oldest first. */
  dueSchedules(options: {
    horizonMs: number;
    limit: number;
  }): Promise<{ now: Instant; schedules: readonly ScheduleRow[] }>;
  /**
   * Of those of these schedules that are chains in force, a page each: of the oldest `timesMax` times after its `decidedUntil` of the
   * schedule before it those of which it has no row.
   */
  chains(options: {
    ids: readonly string[];
    timesMax: number;
  }): Promise<{ now: Instant; chains: readonly ChainPage[] }>;
  /**
   * Occurrences and their jobs, and `decided_until` forward: one statement, schedules locked by id at their version.
   * `passed`: schedules that it did not plan, because another session holds them or they have changed; they stay due.
   * `dispatchWindowMs`: default the store's; 0 dispatches only what is due, for a caller that runs it itself.
   */
  plan(
    plans: readonly PlannedSchedule[],
    options?: { dispatchWindowMs?: number; fence?: Fence | undefined },
  ): Promise<{ occurrences: number; passed: readonly string[]; aftermath: Aftermath }>;

  /** A job as it is now; null when there is none. What people read beyond that are queries in `src/insight`. */
  job(of: JobId | { readonly kind: string; readonly key: string }): Promise<JobView | null>;
  /** By id, those with a larger one than `after`: at most `limit`, `contractLimits.schedulesMax` when left out. */
  schedules(page?: { readonly after?: string | undefined; readonly limit?: number }): Promise<readonly ScheduleRow[]>;
}
