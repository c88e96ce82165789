import type { Instant } from "../job/job.ts";

/** One change as it is noted. */
export interface AuditRow {
  readonly caller: string;
  /** `POST /jobs/:id/cancel`. */
  readonly action: string;
  /** The requested path. */
  readonly target: string;
  readonly status: number;
  /** The request as JSON. */
  readonly detail: string;
  readonly trace: string;
}

export interface AuditView extends Omit<AuditRow, "detail"> {
  readonly id: string;
  readonly at: Instant;
  readonly detail: unknown;
}
