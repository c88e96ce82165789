import type { State } from "./state.ts";
import type { Turn } from "./turn.ts";

/** A value that survives a trip through JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

/** The id of a job: a 64-bit number as a decimal string, assigned by the store and never reused. */
export type JobId = string & { readonly brand: "JobId" };

export interface AttemptRef {
  readonly jobId: JobId;
  readonly attempt: number;
}

/** The id of a run: a 64-bit number as a decimal string. */
export type RunId = string & { readonly brand: "RunId" };

/** An instant in milliseconds since 1970 by the database's clock. */
export type Instant = number;

/** What happens to a job that gets no slot: it waits, is SKIPPED, or waits unless another job waits already. */
export type OnRefusal = "hold" | "skip" | "queue-one";

/** A set of `size` slot rows. A job names the groups it needs; it runs only while it holds one slot of each. */
export interface SlotGroup {
  /** `cap:<kind>`, `rate:<kind>`, `lock:<name>`, `overlap:<schedule>` or `catchup:<schedule>`. */
  readonly key: string;
  readonly size: number;
  /** Of a rate: how long a start spends its slot. Left out: a job holds its slot until it ends. */
  readonly windowMs?: number | undefined;
  readonly onRefusal: OnRefusal;
  /** Why a job without it waits or is SKIPPED. Of `hold` with another than `slot`: at most `overlapWaitingMax` wait. */
  readonly reason: "slot" | "lock-held" | "overlap" | "replaced";
}

/** A job as the store gets it. Policy that the store applies itself (lease, attempts) is copied into the row. */
export interface NewJob {
  readonly kind: string;
  readonly key: string | null;
  /** As the caller gave it, before schema defaults: a deploy that changes a default does not turn repeats into conflicts. */
  readonly payload: Json;
  readonly lane: string;
  /** Absolute due time; `null` means now. `delayMs` is added to either. */
  readonly dueAt: Instant | null;
  readonly delayMs: number;
  /** After this instant the job is SKIPPED `expired` instead of claimed. */
  readonly expiresAt: Instant | null;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  readonly retentionMs: number;
  /** Keys of the slot groups it needs; they must have been installed. */
  readonly slotKeys: readonly string[];
  readonly trace: string;
  /** Set: it waits for its turn, also when it is due. Left out: it does not. */
  readonly turn?: Turn | undefined;
  /** Set: it joins the job of its burst while that was not started, else it begins one. Due `forMs` from now then; no key of its own. */
  readonly debounce?: Debounced | undefined;
  /** Set: it waits for others, to be started with them. Its `delayMs` has that wait. */
  readonly batch?: Batched | undefined;
}

/** Which payload a burst has: that of its last or first call, or what a function makes of what it has and the next. */
export type Keep = "last" | "first" | ((kept: Json, next: Json) => Json);

export interface Debounced {
  readonly key: string;
  /** It is due so long after its last call, */
  readonly forMs: number;
  /** and so long after its first one at the latest. */
  readonly maxMs: number;
  readonly keep: Keep;
}

/** The same for all calls of a kind, as its definition says it. */
export interface DebounceRule extends Omit<Debounced, "key"> {
  readonly key: (payload: unknown) => string;
}

/** The payload of a burst after one more call. */
export const keptPayload = (keep: Keep, kept: Json, next: Json): Json =>
  keep === "last" ? next : keep === "first" ? kept : keep(kept, next);

/** How jobs of one kind and key wait for each other, to be one call of `runBatch`. */
export interface Batched {
  readonly key: string;
  /** Jobs of a call at most. */
  readonly max: number;
  /** How long a job waits for others at most. */
  readonly waitMs: number;
}

/** The same for all jobs of a kind, as its definition says it. */
export interface BatchRule extends Omit<Batched, "key"> {
  readonly key: (payload: unknown) => string;
}

export interface BatchOf extends Batched {
  readonly kind: string;
}

/** A job as people and the API see it. */
export interface JobView {
  readonly id: JobId;
  readonly kind: string;
  readonly key: string | null;
  readonly state: State;
  readonly lane: string;
  readonly hold: "none" | "paused" | "slot";
  readonly generation: number;
  readonly attempt: number;
  readonly failures: number;
  readonly interruptions: number;
  readonly maxAttempts: number;
  readonly payload: Json;
  readonly result: Json | null;
  readonly progress: number | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  readonly worker: string | null;
  readonly trace: string;
  readonly scheduleId: string | null;
  readonly scheduledFor: Instant | null;
  /** When that time is due, if its schedule is spread. */
  readonly effectiveAt: Instant | null;
  readonly createdAt: Instant;
  readonly dueAt: Instant;
  /** Calls that joined it after the first, if its kind is debounced, */
  readonly joined: number | null;
  /** and when it is due at the latest. */
  readonly dueAtMost: Instant | null;
  /** Whom it waits for, if its kind is run in batches, */
  readonly batchKey: string | null;
  /** and the first job of the batch of its newest attempt. */
  readonly batchOf: JobId | null;
  readonly startedAt: Instant | null;
  readonly leaseUntil: Instant | null;
  readonly finishedAt: Instant | null;
  /** Set for a job of a run. */
  readonly runId: RunId | null;
  /** Its name inside the graph. */
  readonly task: string | null;
  /** Waits for predecessors. */
  readonly blocked: boolean;
  /** The slot group it waits for. */
  readonly heldOn: string | null;
  readonly slotKeys: readonly string[];
  /** Of the payload as it is stored. In lists a large one is null. */
  readonly payloadBytes: number;
}

/**
 * One kept move of one job. Kept are: each end of an attempt that is not a SUCCESS, and each other move that has a reason or a
 * caller. The job's own row has the rest: when it was created, its newest attempt, and its success.
 */
export interface HistoryRow<T = Instant> extends MoveView<T> {
  /** When the attempt began that this move ended. */
  readonly startedAt: T | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** One attempt that ended. */
export interface AttemptView {
  readonly attempt: number;
  readonly worker: string;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly outcome: AttemptOutcome;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** What a person needs to find the cause of one failed attempt. Every text is cut. */
export interface FailureDetail {
  /** Null when something was thrown that has none. */
  readonly stack: string | null;
  /** The stacks, or else the texts, of `cause` and its causes. */
  readonly causes: readonly string[];
  /** What an outside service answered, where the error carries it as `response`. */
  readonly response: { readonly status: number; readonly body: string | null } | null;
  /** The last lines that the handler logged. */
  readonly log: readonly LoggedLine[];
}

export interface LoggedLine {
  /** Milliseconds since the attempt began. */
  readonly atMs: number;
  readonly level: string;
  readonly text: string;
}

export interface MoveView<T = Instant> {
  readonly id: string;
  readonly at: T;
  readonly from: State | null;
  readonly to: State;
  readonly attempt: number;
  readonly generation: number;
  readonly worker: string | null;
  readonly reason: string | null;
  /** The person or program that asked for it through the API; null for Belfry's own moves. */
  readonly caller: string | null;
}

/**
 * How an attempt ended. FAILED: its handler failed, or the job was given up with it. LOST: its worker died. RELEASED: given back
 * without a charge, by a worker that stops or for a task that found no room.
 */
export type AttemptOutcome = "SUCCESS" | "FAILED" | "LOST" | "CANCELED" | "RELEASED";

export const attemptOutcomes = [
  "SUCCESS",
  "FAILED",
  "LOST",
  "CANCELED",
  "RELEASED",
] as const satisfies readonly AttemptOutcome[];

/** The error code of an attempt whose worker died: its message is the cause of the worker's end. */
export const workerLost = "WORKER_LOST";
