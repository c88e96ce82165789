import type { JobId, JobView } from "../machine/job.ts";

/** One attempt that ended. @beta */
export interface Ran {
  readonly id: JobId;
  readonly kind: string;
  /** Of the job after the attempt: `SUCCESS`, `RETRY_WAIT`, `FAILED`, ... */
  readonly state: JobView["state"];
  readonly attempt: number;
  readonly error: string | null;
}
