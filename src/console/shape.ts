/** What the page shows. `client.ts` makes these of what the API answers. */
import type { attemptJson, eventJson, jobJson } from "../api/view.ts";

export type Job = ReturnType<typeof jobJson>;
export type State = Job["state"];
export type Attempt = ReturnType<typeof attemptJson>;
export type JobEvent = ReturnType<typeof eventJson>;

export interface JobDetail extends Job {
  readonly attempts: readonly Attempt[];
  readonly events: readonly JobEvent[];
}

export interface JobPage {
  readonly jobs: readonly Job[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

const finished: ReadonlySet<State> = new Set(["SUCCESS", "FAILED", "CANCELED", "SKIPPED"]);
export const isFinal = (state: State): boolean => finished.has(state);
export const mayRetry = (state: State): boolean => isFinal(state) && state !== "SUCCESS";
