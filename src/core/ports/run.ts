/** Runs: jobs that belong together, and what the store does with them. */
import type { Instant, JobId, Json, NewJob } from "../job/job.ts";
import type { JoinRule } from "../job/join.ts";
import type { Fence } from "./fence.ts";
import type { Aftermath } from "./aftermath.ts";
import type { InSameTransaction, Tx } from "./transaction.ts";
import type { RunId } from "./run-id.ts";
import type { State } from "../job/state.ts";

export type { RunId } from "./run-id.ts";

/** Shown to people; CANCELING is a run whose jobs are being canceled page by page. */
export type RunState = "RUNNING" | "CANCELING" | "DONE" | "FAILED" | "CANCELED";

/**
 * What one FAILED task does. `stop`: nothing of the run starts any more. `skip-downstream` (default): what depends on it is
 * SKIPPED, the rest goes on. `continue`: its successors start without its output.
 */
export const failurePolicies = ["stop", "skip-downstream", "continue"] as const;
export type OnFailure = (typeof failurePolicies)[number];

/** A task of a run on its way in. Predecessors are named by their place in the list. */
export interface NewTask {
  /** Its name inside the run. */
  readonly task: string;
  readonly job: NewJob;
  readonly after: readonly number[];
  readonly join: JoinRule;
  /** A condition is asked before it may be claimed. */
  readonly hasCondition: boolean;
}

export interface NewRun {
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly input: Json;
  readonly onFailure: OnFailure;
  readonly retentionMs: number;
  readonly trace: string;
  readonly starterId: JobId | null;
  /** The run it is a rerun of. */
  readonly parentId: RunId | null;
  /** False while pages of jobs may still follow. */
  readonly sealed: boolean;
  /** The hash of its tasks and edges; null for a fan-out. */
  readonly shape: string | null;
  readonly tasks: readonly NewTask[];
}

/** A job that a page adds to a run. `row` is kept for the condition that is asked before it is claimed; null asks nothing. */
export interface NewTarget {
  readonly job: NewJob;
  readonly row: Json | null;
}

export interface Paged {
  /** False: the run is not RUNNING any more, or the job that writes pages is not this attempt's; nothing was written. */
  readonly written: boolean;
  readonly created: number;
  /** Rows whose key existed with another payload: the first payload wins. */
  readonly conflicts: number;
  readonly aftermath: Aftermath;
}

/** How a predecessor ended, and what it left. */
export interface TaskOutput {
  readonly state: State;
  readonly result: Json | null;
}

/** What a job of a run knows about it. */
export interface InRun {
  readonly runId: RunId;
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly input: Json;
  /** Null for a target of a fan-out. */
  readonly task: string | null;
  readonly row: Json | null;
  /** Predecessors by their task name. */
  readonly outputs: Readonly<Record<string, TaskOutput>>;
}

export interface Resolved {
  /** Ends, joins and runs that were brought forward. */
  readonly steps: number;
  /** Whether something was left when this ended: ask again, unless `steps` is 0. */
  readonly more: boolean;
  readonly aftermath: Aftermath;
  readonly closed: readonly { readonly runId: RunId; readonly kind: string; readonly state: RunState }[];
}

/** A run as people see it. Its figures count jobs; each is up to date, whatever was added up so far. */
export interface RunView {
  readonly id: RunId;
  /** The id of its definition; `runs.kind` filters by it. */
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  /** The hash of its tasks and edges; null for a fan-out. */
  readonly shape: string | null;
  readonly state: RunState;
  readonly onFailure: OnFailure;
  /** A task FAILED under `stop`: what still waits will be SKIPPED. */
  readonly stopped: boolean;
  /** False while pages of jobs may still follow: `total` still grows. */
  readonly sealed: boolean;
  /** The run it is a rerun of. */
  readonly parentId: RunId | null;
  /** The job that started it: its schedule, occurrence and trace are found there. */
  readonly starterId: JobId | null;
  readonly input: Json;
  readonly total: number;
  /** May start: a message is out, or it waits for its time, a slot or the relay. */
  readonly ready: number;
  /** Wait for predecessors. */
  readonly waiting: number;
  readonly running: number;
  /** Ended, however: `ok + failed + skipped` and those that were CANCELED. */
  readonly done: number;
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  /** Of `total`, rounded down; 100 for a sealed run without jobs. */
  readonly percent: number;
  readonly createdAt: Instant;
  readonly finishedAt: Instant | null;
}

/** Each field narrows; all left out: every run, newest first. */
export interface RunFilter {
  readonly kind?: string;
  readonly key?: string;
  readonly states?: readonly RunState[];
  /** Reruns of this run. */
  readonly parentId?: RunId;
  /** Runs with a smaller id: the cursor of the next page is the last id of this one. */
  readonly before?: RunId;
  readonly limit: number;
}

export interface TaskFilter {
  readonly states?: readonly State[];
  /** Jobs with a larger id: the cursor of the next page is the last id of this one. */
  readonly after?: JobId;
  readonly limit: number;
}

/** One task or target as its run shows it. */
export interface TaskView {
  readonly jobId: JobId;
  /** Null for a target of a fan-out: its `key` names it. */
  readonly task: string | null;
  readonly kind: string;
  readonly key: string | null;
  readonly state: State;
  readonly blocked: boolean;
  readonly notTaken: boolean;
  readonly join: JoinRule;
  /** Its predecessors in id order: the edges of the graph, `runLimits.edgesShownMax` a task at most. */
  readonly after: readonly JobId[];
  /** How many predecessors it has, also when `after` is cut. */
  readonly afterTotal: number;
  readonly preds: { readonly open: number; readonly ok: number; readonly bad: number };
  readonly attempt: number;
  readonly failures: number;
  readonly maxAttempts: number;
  readonly result: Json | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** When its newest try started; null before the first. */
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
}

/** A run that was started now or before; `input` and `parentId` are then those it was started with. */
export interface StartedRun {
  readonly runId: RunId;
  readonly created: boolean;
  readonly sealed: boolean;
  readonly cursor: Json | null;
  readonly input: Json;
  readonly parentId: RunId | null;
  readonly aftermath: Aftermath;
}

/** The part of the store that knows runs. Each method is one transaction or, where it says so, one in a caller's. */
export interface RunStore {
  /**
   * The run, its jobs and edges, all or nothing; those without predecessors are QUEUED at once. A run that has this kind
   * and key already is answered with `created: false`; one that its starter left unsealed, and that this starter tries again,
   * is open again. One that is sealed at once takes over the slots of its starter, which
   * must be RUNNING and succeed in the same transaction: they are free when the run closes.
   */
  startRun(run: NewRun, options: { dispatchWindowMs: number; tx?: Tx }): Promise<StartedRun>;
  /**
   * One page of a run that is not sealed, with the cursor of the next. `tx`: in the caller's transaction. A key whose job was
   * withdrawn before it ran is free again. @throws Error while such a job is still open.
   */
  addPage(
    runId: RunId,
    page: { targets: readonly NewTarget[]; cursor: Json | null; by: { jobId: JobId; attempt: number } },
    options: { dispatchWindowMs: number; tx?: Tx },
  ): Promise<Paged>;
  /** No page follows; the slots of the starter pass to the run, as in `startRun`. @returns false when the run is not RUNNING any more. */
  sealRun(runId: RunId, options: { tx?: Tx }): Promise<boolean>;
  /** What these jobs know about their runs; jobs without a run are left out. */
  inRuns(ids: readonly JobId[]): Promise<ReadonlyMap<JobId, InRun>>;
  /** QUEUED under that generation -> SKIPPED: a condition said no. @returns the ids that were skipped. */
  skip(
    messages: readonly { jobId: JobId; generation: number }[],
    options: { reason: string; notTaken: boolean },
  ): Promise<{ readonly ids: readonly JobId[]; readonly aftermath: Aftermath }>;
  /**
   * One bounded round: counts ends, adds up wide joins and runs, closes what is complete, which frees its slots. `all` also
   * seals runs whose starter ended without sealing them: they close FAILED.
   */
  resolve(options: {
    runs: readonly RunId[] | "all";
    limit: number;
    dispatchWindowMs: number;
    fence?: Fence;
  }): Promise<Resolved>;
  /** RUNNING -> CANCELING: from here on none of its jobs is claimed and none is added. @returns false when it has ended. */
  cancelRun(runId: RunId): Promise<boolean>;
  /** One page of a CANCELING run's open jobs -> CANCELED. @returns how many. */
  cancelPage(
    runId: RunId,
    options: { limit: number; inSameTransaction?: InSameTransaction },
  ): Promise<{ readonly canceled: number; readonly aftermath: Aftermath }>;
  /**
   * CANCELING runs with open jobs: somebody is writing their pages, or died of it. `withdrawn`: only runs of that kind which
   * their schedule took back.
   */
  cancelingRuns(limit: number, only?: { readonly withdrawn: string }): Promise<readonly RunId[]>;
  /**
   * Runs that a fan-out wrote ahead of its schedule's nominal time, which has come: let go, or withdrawn when the schedule is
   * paused, with the occurrence SKIPPED. Until then a claim asks the schedule, and an edit or a deletion withdraws them.
   */
  decidePrematerialized(options: { limit: number; fence?: Fence }): Promise<{ decided: number; withdrawn: number }>;
  /**
   * What FAILED, was CANCELED or was SKIPPED because of it runs again; what succeeded does not, nor does a branch that was
   * not taken. `ids` narrows it to those jobs and what was skipped because of them. Counters are recounted from the edges.
   * @returns the ids that run again.
   */
  resumeRun(
    runId: RunId,
    options: { ids?: readonly JobId[] },
  ): Promise<{ readonly ids: readonly JobId[]; readonly aftermath: Aftermath }>;
  /** With its progress. Verbs on runs are in `run-control.ts`. @returns null when it does not exist. */
  run(id: RunId): Promise<RunView | null>;
  /** Newest first. */
  runs(filter: RunFilter): Promise<readonly RunView[]>;
  /** A page of its tasks or targets with the edges that lead to them, in id order; empty for a run that does not exist. */
  tasks(runId: RunId, filter: TaskFilter): Promise<readonly TaskView[]>;
}
