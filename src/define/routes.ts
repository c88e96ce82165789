import type { JobId, AttemptView, JobView } from "../machine/job.ts";
import type { Log } from "../machine/ports.ts";

/**
 * A small HTTP app of an app's own, mounted by the API at `/apps/NAME`: it sees the path behind that. Anything with this
 * shape will do, for example a Hono app, which finds the second argument in `c.env`. What `fetch` throws is logged and
 * answered with 500; a Hono app does that by itself. Requests have passed the API's own guards before they arrive here.
 */
export interface Routes {
  fetch(request: Request, inside: RouteContext): Response | Promise<Response>;
}

/** What routes may call, besides `job.enqueue`. For a caller with a scope there are no jobs but those within it. */
export interface RouteContext {
  readonly stage: string;
  readonly log: Log;
  /** The job of this definition with this key, or null. */
  find(job: { readonly id: string }, key: string): Promise<JobView | null>;
  /** A job and its attempts that have ended, or null. */
  get(id: JobId): Promise<{ readonly job: JobView; readonly attempts: readonly AttemptView[] } | null>;
  /** A running handler is aborted at its next heartbeat. @returns false for a job that had ended before. */
  cancel(id: JobId): Promise<boolean>;
}
