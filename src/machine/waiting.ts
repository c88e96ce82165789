import type { HoldingCircuit } from "./circuit-store.ts";
import type { Instant, JobId, RunId } from "./job.ts";
import type { Pause } from "./pause.ts";
import type { RunState } from "./run.ts";

/** A count that stops at a bound. */
export interface BoundedCount {
  readonly count: number;
  readonly isMore: boolean;
}

export interface FailedFirst {
  readonly jobId: JobId;
  readonly runId: RunId;
  /** The key, for a target of a fan-out. */
  readonly task: string;
  readonly errorCode: string | null;
}

export interface StartedByJob {
  readonly runId: RunId;
  readonly state: RunState;
  readonly done: number;
  readonly failed: number;
  readonly total: number;
}

/** A retry of dead letters in steps. */
export interface Redrive {
  readonly id: string;
  readonly isOver: boolean;
  readonly changed: number;
  readonly steps: {
    readonly state: "wanted" | "out" | "passed" | "failed";
    readonly jobs: readonly JobId[];
    readonly failed: number;
    readonly code: string | null;
  };
}

/** What else decides when a job runs. */
export interface WaitingFacts {
  /** Its lane, or else its kind by `kindName`, which a gate closes; null: both are open. */
  readonly closedName: string | null;
  /** The reason of that gate. */
  readonly laneRefusal: string | null;
  readonly lanePause: Pause | null;
  /** The end of the blackout that it is in; null: it is in none. */
  readonly blackoutUntil: Instant | null;
  readonly circuit: HoldingCircuit | null;
  readonly schedule: { readonly pause: Pause | null; readonly enabled: boolean } | null;
  readonly openPredecessors: number;
  /** It waits for a signal of its name, which has not come. */
  readonly awaitsSignal: boolean;
  /** Some of them. */
  readonly predecessors: readonly JobId[];
  /** QUEUED in the same lane, due, and dispatched before. */
  readonly ahead: BoundedCount;
  /** Waiting longer for the same slot. */
  readonly heldBefore: BoundedCount;
  readonly runningInLane: BoundedCount;
  /** Of its kind and batch key: those that wait beside it, or run in its call. */
  readonly batchOthers: number;
  /** When the lane's newest worker was last seen; null: never. */
  readonly workerSeenAt: Instant | null;
  /** Of a SKIPPED task: which task before it failed or was canceled first. Of a FAILED run's starter: which of its tasks did. */
  readonly failedFirst: FailedFirst | null;
  /** The newest run that it started. */
  readonly started: StartedByJob | null;
  /** Of a FAILED job: the newest redrive that took jobs of its group first. */
  readonly redrive: Redrive | null;
  /** Of its newest event. */
  readonly lastReason: string | null;
}
