import type { Instant } from "../job/job.ts";
import type { AttemptRef } from "./store.ts";

/** CPU in 1/1024 of a vCPU and memory, as Fargate sells them together. */
export interface TaskSize {
  readonly cpu: 256 | 512 | 1_024 | 2_048 | 4_096 | 8_192 | 16_384;
  readonly memoryMb: number;
}

/** One try of a job that runs in a task of its own (`runOn: "fargate"`): the same image with `run-job JOB ATTEMPT WORKER`. */
export interface TaskLaunch extends AttemptRef {
  readonly kind: string;
  /** The worker that claimed the job. The task takes the try over from it, so that only one task ever runs a try. */
  readonly worker: string;
  /** Of the job and the attempt: launching twice with it starts one task at most. At most 64 characters, as ECS has it. */
  readonly clientToken: string;
  /** Null is the size of the task definition. */
  readonly size: TaskSize | null;
}

export type Launched =
  | { readonly is: "accepted"; readonly task: string }
  /** Nothing is wrong with the job: Fargate has no room, or asks to be called less often. */
  | { readonly is: "no-room"; readonly reason: string };

/**
 * Starts tasks. It decides nothing: a task that was launched finds in its row whether it may run, and one that never starts
 * loses the lease it was lent, so a lost or a repeated launch costs time and never a second effect.
 */
export interface Launcher {
  /** `accepted` does not mean that the task runs. @throws when it was refused for another reason, or nobody knows. */
  launch(launch: TaskLaunch): Promise<Launched>;
  /**
   * SIGTERM to this task, SIGKILL after its stop timeout. `task` is what comes after the last `/` of its ARN. A task that has
   * ended, or that never was, is no error.
   */
  stop(task: string, reason: string): Promise<void>;
  /** How many tasks of jobs, of the first `limits.tasksLookedAtMax`, run since before this instant. */
  runningSince(before: Instant): Promise<number>;
}

/** How a task names itself in the tries it takes over: whoever reads the row knows which task to look at and to stop. */
export const taskWorker = (task: string, suffix: string): string => `task/${task}:${suffix}`;

/** The task that this worker is, or null when it is none. No lane's name has a slash in it, so no other worker's begins alike. */
export const taskOf = (worker: string | null): string | null => /^task\/([^:]+):/.exec(worker ?? "")?.[1] ?? null;
