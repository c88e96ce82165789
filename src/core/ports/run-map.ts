import type { Instant, JobId, RunId } from "../job/job.ts";
import type { State } from "../job/state.ts";

/** A task as a picture of its whole run needs it: without payload, result and message. */
export interface MappedTask {
  readonly jobId: JobId;
  readonly name: string | null;
  readonly state: State;
  readonly notTaken: boolean;
  /** Predecessors that have not ended. */
  readonly openPredecessors: number;
  readonly attempt: number;
  readonly errorCode: string | null;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
}

export interface RunMaps {
  /**
   * Up to `operationsLimits.mappedTasksMax` tasks, and of each the first `mappedEdgesOfTaskMax` edges that lead to it, up to
   * `mappedEdgesMax`. `isMore`: there are more tasks, or more of these edges.
   */
  runMap(run: RunId): Promise<{
    readonly tasks: readonly MappedTask[];
    readonly edges: readonly (readonly [from: JobId, to: JobId])[];
    readonly isMore: boolean;
  }>;
}
