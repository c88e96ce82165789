import type { JobReply } from "../../api/shape/job.ts";

export type JobState = JobReply["state"];

export const jobStates = [
  "PENDING",
  "QUEUED",
  "RUNNING",
  "RETRY_WAIT",
  "SUCCESS",
  "FAILED",
  "CANCELED",
  "SKIPPED",
] as const satisfies readonly JobState[];

const finished: ReadonlySet<JobState> = new Set(["SUCCESS", "FAILED", "CANCELED", "SKIPPED"]);
export const isJobOver = (state: JobState): boolean => finished.has(state);
export const mayRetry = (state: JobState): boolean => isJobOver(state) && state !== "SUCCESS";
