import type { Try } from "./store.ts";

/** One try of a job that runs in a task of its own (`runOn: "fargate"`): the same image with `run-job JOB ATTEMPT WORKER`. */
export interface Launch extends Try {
  readonly kind: string;
  /** The worker that claimed the job. The task takes the try over from it, so that only one task ever runs a try. */
  readonly worker: string;
  /** Of the job and the attempt: launching twice with it starts one task at most. At most 64 characters, as ECS has it. */
  readonly clientToken: string;
}

/**
 * Starts tasks. It decides nothing: a task that was launched finds in its row whether it may run, and one that never starts
 * loses the lease it was lent, so a lost or a repeated launch costs time and never a second effect.
 */
export interface Launcher {
  /** Resolves when the launch was accepted, which does not mean that the task runs. @throws when it was not, or nobody knows. */
  launch(launch: Launch): Promise<void>;
  /** SIGTERM to the task of this try, SIGKILL after its stop timeout. A task that has ended, or that never was, is no error. */
  stop(task: Try, reason: string): Promise<void>;
}
