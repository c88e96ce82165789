/**
 * What the checker judges: plain data, gathered by the simulation or by the harness of real processes.
 * Times are milliseconds of the database's clock.
 */
import type { AttemptOutcome } from "../../src/machine/job.ts";
import type { FailurePolicy, RunState } from "../../src/machine/run.ts";
import type { JoinRule } from "../../src/machine/join.ts";
import type { State } from "../../src/machine/state.ts";
import type { FlowFacts } from "./flow-control.ts";
import type { ObjectiveFact } from "./objectives.ts";
import type { SignalFacts } from "./signaled.ts";

export interface Evidence {
  /** What clients asked for and were answered. */
  readonly enqueues: readonly Enqueue[];
  /** What each worker was answered, in the order of the answers. */
  readonly workers: readonly WorkerFact[];
  /** When the handlers of canceled jobs were gone and their slots given back; left out where they were not noted. */
  readonly gone?: readonly { readonly jobId: string; readonly attempt: number; readonly at: number }[];
  /** Fenced writes in the order of their commits. */
  readonly fenced: readonly FencedWrite[];
  /** What the lock store did, in its own order. */
  readonly locks: readonly LockFact[];
  /** Messages that reached a dead-letter queue, and what was left in it at the end. */
  readonly deadLetters: readonly DeadLetter[];
  /** Calls that outside targets wrote into their own ledgers. */
  readonly effects: readonly Effect[];
  /** Rows that handlers wrote in the transaction of their success. */
  readonly transactional: readonly Effect[];

  readonly jobs: readonly JobFact[];
  /** In the order they were written. */
  readonly events: readonly EventFact[];
  readonly attempts: readonly AttemptFact[];
  readonly slots: readonly SlotFact[];
  readonly openBatches: readonly OutboxBatchFact[];
  readonly occurrences: readonly OccurrenceFact[];
  /** Schedules whose every time waits while one runs. */
  readonly keepsAll?: readonly string[];
  /** Schedules of which only the latest of the times that wait may start. */
  readonly keepsLatest?: readonly string[];
  /** Left out where there are none. */
  readonly runs?: readonly RunFact[];

  /** Left out where there are none. */
  readonly chains?: readonly ChainFact[];

  /** Left out where none were sent. */
  readonly signals?: SignalFacts;

  /** Left out where no kind has a field of flow control. */
  readonly flow?: FlowFacts;

  /** As Postgres judges them; left out where it was not asked. */
  readonly objectives?: readonly ObjectiveFact[];

  /** Nominal times that must have a row, by schedule; nothing else may have one. */
  readonly expectedTimes: ReadonlyMap<string, readonly number[]>;
  /** Which kinds hold one slot of which group, and how many may run at once. */
  readonly caps: readonly Cap[];
  /** Kinds whose handler writes exactly one transactional row when it succeeds. */
  readonly transactionalKinds: readonly string[];
  /** Children that each successful job of a kind leaves. */
  readonly childrenOf: ReadonlyMap<string, number>;
  /** When the tables were read. */
  readonly readAt: number;
  /** Jobs due before this instant must have ended. */
  readonly endedBefore: number;
}

export interface Enqueue {
  /** A label of this enqueue that the payload carries. */
  readonly mark: string;
  readonly kind: string;
  readonly key: string | null;
  /** Null when the caller got no answer: the job may exist or not. `refused`: the answer was that nothing was written. */
  readonly answer: { readonly id: string; readonly created: boolean } | "refused" | null;
}

export type WorkerFact =
  | {
      readonly is: "claimed";
      readonly worker: string;
      readonly jobId: string;
      readonly attempt: number;
      readonly at: number;
      readonly leaseMs: number;
      readonly askedGeneration: number;
      readonly generation: number;
      readonly dueAt: number;
      /** How many jobs that claim made run. */
      readonly batch: number;
    }
  | {
      /** A heartbeat that was answered: the lease holds until `at + leaseMs`. */
      readonly is: "kept";
      readonly worker: string;
      readonly jobId: string;
      readonly attempt: number;
      readonly at: number;
      readonly leaseMs: number;
    }
  | {
      readonly is: "settled";
      readonly worker: string;
      readonly jobId: string;
      readonly attempt: number;
      readonly to: State;
      readonly written: boolean;
      /** Until its next attempt, where that was noted. */
      readonly delayMs?: number;
    };

export interface FencedWrite {
  readonly name: string;
  readonly token: number;
  /** The process that wrote; left out where it is not known. */
  readonly by?: string;
}

export type LockFact =
  | {
      readonly is: "taken";
      readonly name: string;
      readonly owner: string;
      readonly fence: number;
      readonly at: number;
      readonly leaseMs: number;
    }
  | {
      readonly is: "kept" | "released";
      readonly name: string;
      readonly owner: string;
      readonly fence: number;
      readonly at: number;
    }
  /** The harness itself removed or replaced the item. */
  | { readonly is: "damaged"; readonly name: string; readonly at: number };

export interface DeadLetter {
  readonly jobId: string;
  readonly generation: number;
  /** Receives that ended badly because of a fault, of all receives. */
  readonly troubledReceives: number;
  readonly receives: number;
  /** False when no drain took it from the dead-letter queue. */
  readonly drained: boolean;
}

export interface Effect {
  readonly key: string;
  readonly jobId: string;
  readonly attempt: number;
}

export interface JobFact {
  readonly id: string;
  readonly kind: string;
  readonly key: string | null;
  readonly state: State;
  readonly hold: "none" | "paused" | "slot";
  readonly dueAt: number;
  readonly generation: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly failures: number;
  readonly scheduleId: string | null;
  /** The label its payload carries; null for a job of a schedule. */
  readonly mark: string | null;
  /** The job whose handler enqueued it. */
  readonly parentId: string | null;
  /** Which try of that handler; left out where payloads do not say. */
  readonly parentAttempt?: number | null;
  /** Set for a job that its run wrote: no client enqueued it. */
  readonly runId?: string | null;
  /** The run whose end wrote it, or wrote the job that enqueued it. */
  readonly followsRun?: string | null;
}

export interface EventFact {
  readonly jobId: string;
  readonly at: number;
  readonly from: State | null;
  readonly to: State;
  readonly attempt: number;
  readonly generation: number;
  readonly worker: string | null;
  readonly reason: string | null;
}

export interface AttemptFact {
  readonly jobId: string;
  readonly attempt: number;
  readonly worker: string;
  readonly outcome: AttemptOutcome;
  readonly errorCode: string | null;
}

export interface SlotFact {
  readonly key: string;
  readonly jobId: string | null;
  /** A canceled job's slot: free from this instant on. */
  readonly freeFrom: number | null;
  /** Reserved for the claim of its job under this generation. */
  readonly keptFor?: number | null;
}

export interface OutboxBatchFact {
  readonly members: readonly { readonly jobId: string; readonly generation: number }[];
}

export interface OccurrenceFact {
  readonly scheduleId: string;
  readonly nominalAt: number;
  readonly outcome: string;
  readonly reason: string | null;
  readonly jobId: string | null;
}

/** A schedule that follows another one on success, from its first time on. */
export interface ChainFact {
  readonly id: string;
  readonly after: string;
  readonly withinMs: number;
}

export interface Cap {
  readonly key: string;
  readonly size: number;
  readonly kinds: readonly string[];
  /** Which jobs of these kinds have the key; left out: all. */
  readonly of?: (job: JobFact) => boolean;
}

export interface RunFact {
  readonly id: string;
  readonly state: RunState;
  readonly sealed: boolean;
  readonly onFailure: FailurePolicy;
  readonly createdAt: number;
  /** The job that started it. */
  readonly starterId?: string | null;
  /** The slot of a schedule whose runs may not overlap, and when the run closed; left out where they were not noted. */
  readonly overlapKey?: string | null;
  readonly finishedAt?: number | null;
  /** It asks for a job behind the end that it had, or behind any end. */
  readonly isFollowed?: boolean;
  readonly total: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  /** All of them, in no particular order. */
  readonly tasks: readonly TaskFact[];
}

export interface TaskFact {
  readonly jobId: string;
  readonly state: State;
  readonly notTaken: boolean;
  readonly blocked: boolean;
  readonly join: JoinRule;
  /** Ids of its predecessors. */
  readonly after: readonly string[];
  readonly preds: { readonly open: number; readonly ok: number; readonly bad: number };
}

/** One broken promise, named as in the list of invariants. */
export interface Violation {
  readonly invariant: string;
  readonly detail: string;
}

export const noEvidence: Evidence = {
  enqueues: [],
  workers: [],
  fenced: [],
  locks: [],
  deadLetters: [],
  effects: [],
  transactional: [],
  jobs: [],
  events: [],
  attempts: [],
  slots: [],
  openBatches: [],
  occurrences: [],
  expectedTimes: new Map(),
  caps: [],
  transactionalKinds: [],
  childrenOf: new Map(),
  readAt: 0,
  endedBefore: 0,
};

/** What the end of a run writes carries the run in its key, and so does what that job enqueues. */
export const followedRun = (key: string | null): string | null => /^then:(\d+)$/.exec(key ?? "")?.[1] ?? null;
