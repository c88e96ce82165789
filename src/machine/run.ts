/** Runs: jobs that belong together, and what the store does with them. */
import type { Instant, JobId, Json, NewJob, RunId } from "./job.ts";
import type { JoinRule } from "./join.ts";
import type { Fence } from "./fence.ts";
import type { Aftermath } from "./outbox.ts";
import type { Actor, InSameTransaction, Tx } from "./transaction.ts";
import type { State } from "./state.ts";

/** Shown to people; CANCELING is a run whose jobs are being canceled page by page. */
export type RunState = "RUNNING" | "CANCELING" | "DONE" | "FAILED" | "CANCELED";

/**
 * What one FAILED task does. `stop`: nothing of the run starts any more. `skip-downstream` (default): what depends on it is
 * SKIPPED, the rest goes on. `continue`: its successors start without its output.
 */
export const failurePolicies = ["stop", "skip-downstream", "continue"] as const satisfies readonly FailurePolicy[];
export type FailurePolicy = "stop" | "skip-downstream" | "continue";

/** A task of a run on its way in. Predecessors are named by their place in the list. */
export interface NewTask {
  /** Its name inside the run. */
  readonly task: string;
  readonly job: NewJob;
  readonly after: readonly number[];
  readonly join: JoinRule;
  /** A condition is evaluated before it may be claimed. */
  readonly hasCondition: boolean;
  /** Of a task that waits after its predecessors; a due time of its job is one that it waits for. */
  readonly wait?: TaskWait | null;
}

/** Due so long after its predecessors released it; null: at the due time of its job. `forSignal`: or once its signal has come. */
export interface TaskWait {
  readonly ms: number | null;
  readonly forSignal: boolean;
}

export type Signaled =
  | { readonly is: "taken"; readonly jobId: JobId; readonly aftermath: Aftermath }
  /** Another came first: with the same payload, or a different one. `by`: its caller. */
  | { readonly is: "repeated" | "conflict"; readonly jobId: JobId; readonly at: Instant; readonly by: string | null }
  /** Its task runs or has ended, or the run takes nothing any more. */
  | { readonly is: "late"; readonly jobId: JobId; readonly state: State; readonly runState: RunState }
  /** No task of the run waits for that name. */
  | { readonly is: "unknown" };

/** Which end of a run is followed: DONE, FAILED, or any. */
export const runEndChoices = ["success", "failure", "end"] as const;
export type RunEndChoice = (typeof runEndChoices)[number];

/** The job that the end of a run writes, of a kind that makes the payload of what follows. */
export interface Continuation {
  /** The kind that follows; that of `kind` where nothing else does. */
  readonly job: string;
  /** The kind that the end writes. */
  readonly kind: string;
  readonly on: RunEndChoice;
  readonly lane: string;
  readonly leaseMs: number;
  readonly maxAttempts: number;
  readonly retentionMs: number;
}

/** The key of both jobs. */
export const continuationKey = (runId: RunId): string => `then:${runId}`;

/** A run that has ended, with how its jobs did. */
export interface RunResult {
  readonly runId: RunId;
  readonly outcome: "DONE" | "FAILED" | "CANCELED";
  readonly total: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly canceled: number;
  readonly skipped: number;
}

/** The payload of the job that the end writes; times are ISO text. */
export interface RunEnd extends RunResult {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly input: Json;
}

export interface NewRun {
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly input: Json;
  readonly onFailure: FailurePolicy;
  /** The share of its jobs, 0 to 1, that may fail or be canceled while the run ends DONE. */
  readonly tolerate: number;
  /** The job that its end writes; null for none. */
  readonly continuation: Continuation | null;
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

/** A job that a page adds to a run. `row` is kept for the condition that is evaluated before a claim; null: no condition. */
export interface NewTarget {
  readonly job: NewJob;
  readonly row: Json | null;
}

export interface Paged {
  /** False: the run is not RUNNING, or this attempt has lost the job that writes pages; nothing was written. */
  readonly written: boolean;
  readonly created: number;
  /** Rows whose key existed with another payload: the first payload wins. */
  readonly conflicts: number;
  readonly aftermath: Aftermath;
}

export interface TaskOutput {
  readonly state: State;
  readonly result: Json | null;
}

export interface InRun {
  readonly runId: RunId;
  readonly kind: string;
  readonly key: string;
  readonly version: number;
  readonly input: Json;
  /** Null for a target of a fan-out. */
  readonly task: string | null;
  /** The job's own. */
  readonly payload: Json;
  readonly row: Json | null;
  /** Its payload is that of a signal. */
  readonly isSignaled: boolean;
  /** Predecessors by their task name. */
  readonly outputs: Readonly<Record<string, TaskOutput>>;
}

export interface Resolved {
  /** Ends, joins and runs that were brought forward. */
  readonly steps: number;
  /** Whether work is left: call again, unless `steps` is 0. */
  readonly more: boolean;
  readonly aftermath: Aftermath;
  readonly closed: readonly { readonly runId: RunId; readonly kind: string; readonly state: RunState }[];
}

/** What a resume put back. `differences`: why a run cannot go on by the newer definition. */
export interface Resumed {
  readonly ids: readonly JobId[];
  readonly aftermath: Aftermath;
  readonly differences?: readonly string[];
}

/** A run that was started now or before, with the `input` and `parentId` it was started with. */
export interface StartedRun {
  readonly runId: RunId;
  readonly created: boolean;
  readonly sealed: boolean;
  readonly cursor: Json | null;
  readonly input: Json;
  readonly parentId: RunId | null;
  readonly aftermath: Aftermath;
}

/** The part of the store for runs. Each method is one transaction or, with `tx`, part of the caller's. */
export interface RunStore {
  /**
   * Writes the run, its jobs and edges, all or nothing; jobs without predecessors are QUEUED at once. If a run with this kind
   * and key exists, the answer has `created: false`; one that this starter left unsealed is open again. A run that is sealed at
   * once takes over the slots of its starter, which must be RUNNING and succeed in the same transaction; they are freed when the
   * run closes.
   */
  startRun(run: NewRun, options?: { tx?: Tx | undefined }): Promise<StartedRun>;
  /**
   * Adds a page to a run that is not sealed, with the cursor of the next. `tx`: in the caller's transaction. The key of a job
   * that was withdrawn before it ran may be used again. @throws Error while such a job is still open.
   */
  addPage(
    runId: RunId,
    page: { targets: readonly NewTarget[]; cursor: Json | null; by: { jobId: JobId; attempt: number } },
    options?: { tx?: Tx },
  ): Promise<Paged>;
  /** No page follows; the starter's slots pass to the run, as in `startRun`. @returns false when the run is not RUNNING. */
  sealRun(runId: RunId, options: { tx?: Tx }): Promise<boolean>;
  /** How a run ended; null while it is open. */
  runResult(runId: RunId, options?: { tx?: Tx | undefined }): Promise<RunResult | null>;
  /** What its jobs that succeeded returned, behind a job, in the order in which they were added. */
  runOutputs(
    runId: RunId,
    page: { after: JobId | null; limit: number },
  ): Promise<readonly { readonly id: JobId; readonly result: Json | null }[]>;
  /** The runs of these jobs, by job; jobs without a run are left out. */
  inRuns(ids: readonly JobId[]): Promise<ReadonlyMap<JobId, InRun>>;
  /**
   * Gives the task of that name the payload of a signal, once; before its predecessors have ended, it is kept. A task that waits
   * is due at once.
   */
  signal(runId: RunId, name: string, signal: Actor & { readonly payload: Json }): Promise<Signaled>;
  /** QUEUED under that generation -> SKIPPED and not taken: a condition said no. @returns the ids that were skipped. */
  skip(
    messages: readonly { jobId: JobId; generation: number }[],
    options: { reason: string },
  ): Promise<{ readonly ids: readonly JobId[]; readonly aftermath: Aftermath }>;
  /**
   * One bounded round: counts ends, adds up wide joins and runs, closes complete runs and frees their slots. `all` also seals
   * runs whose starter ended without sealing them: they close FAILED.
   */
  resolve(options: { runs: readonly RunId[] | "all"; limit: number; fence?: Fence | undefined }): Promise<Resolved>;
  /** RUNNING -> CANCELING: no job of it is claimed or added any more. @returns false when it has ended. */
  cancelRun(runId: RunId, options?: Actor): Promise<boolean>;
  /** One page of a CANCELING run's open jobs -> CANCELED. A job may end before it is canceled: the last page is the empty one. */
  cancelPage(
    runId: RunId,
    options: { limit: number; inSameTransaction?: InSameTransaction },
  ): Promise<{ readonly canceled: number; readonly isEmpty: boolean; readonly aftermath: Aftermath }>;
  /**
   * CANCELING runs with open jobs: a process is canceling their pages, or died while it did. `withdrawn`: only runs of that
   * kind that their schedule withdrew.
   */
  cancelingRuns(limit: number, only?: { readonly withdrawn: string }): Promise<readonly RunId[]>;
  /**
   * Decides prematerialized runs whose nominal time has come: released, or withdrawn with the occurrence SKIPPED when the
   * schedule is paused. Before that time a claim checks the schedule, and an edit or a deletion withdraws them.
   */
  decidePrematerialized(options: {
    limit: number;
    fence?: Fence | undefined;
  }): Promise<{ decided: number; withdrawn: number }>;
  /**
   * Jobs that FAILED, were CANCELED, or were SKIPPED because of that run again. Successes and branches that were not taken do
   * not. `ids` narrows it to these jobs and what was skipped because of them. Counters are recounted from the edges.
   * `newer`: the run by a newer definition of its graph. Then all that waits or did not succeed goes on by that, new tasks are added, and
   * what is no longer in it is SKIPPED; where `renewalOf` finds differences, nothing is written.
   * @returns the ids that run again; under `newer`, all that changed.
   */
  resumeRun(runId: RunId, options: Actor & { ids?: readonly JobId[]; newer?: NewRun | undefined }): Promise<Resumed>;
}
