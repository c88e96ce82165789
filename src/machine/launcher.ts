import type { AttemptRef, Instant } from "./job.ts";

/** CPU in 1/1024 of a vCPU and memory, as Fargate sells them together. */
export interface TaskSize {
  readonly cpu: 256 | 512 | 1_024 | 2_048 | 4_096 | 8_192 | 16_384;
  readonly memoryMb: number;
}

/** One attempt of a job with `runOn: "fargate"`: its task runs the image with `run-job JOB ATTEMPT WORKER`. */
export interface TaskLaunch extends AttemptRef {
  readonly kind: string;
  /** The worker that claimed the job. The task takes the attempt over from it, so only one task ever runs an attempt. */
  readonly worker: string;
  /** Made of the job and the attempt: two launches with it start one task. At most 64 characters, a limit of ECS. */
  readonly clientToken: string;
  /** Null: the size of the task definition. */
  readonly size: TaskSize | null;
}

export type Launched =
  | { readonly is: "accepted"; readonly task: string }
  /** Fargate has no capacity, or throttles. Nothing is wrong with the job. */
  | { readonly is: "no-room"; readonly reason: string };

/**
 * Starts tasks. It decides nothing: a started task reads in its row whether it may run, and the lease of one that never starts
 * expires. So a lost or repeated launch costs time and never causes a second effect.
 */
export interface Launcher {
  /** `accepted` does not mean that the task runs. @throws when it was refused for another reason, or the result is unknown. */
  launch(launch: TaskLaunch): Promise<Launched>;
  /**
   * SIGTERM to this task, SIGKILL after its stop timeout. `task` is what comes after the last `/` of its ARN. A task that has
   * ended, or that never was, is no error.
   */
  stop(task: string, reason: string): Promise<void>;
  /** How many tasks of jobs, of the first `tasksLookedAtMax`, run since before this instant. */
  runningSince(before: Instant): Promise<number>;
}

/** The worker name of a task. A reader of the row learns from it which task to look at or to stop. */
export const taskWorker = (task: string, suffix: string): string => `task/${task}:${suffix}`;

/** The task of this worker name, or null for another worker. Lane names contain no slash, so only tasks match. */
export const taskOf = (worker: string | null): string | null => /^task\/([^:]+):/.exec(String(worker))?.[1] ?? null;
