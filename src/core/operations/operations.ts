/** The port for people and programs that look and steer: searches, counts and changes of many, each bounded. */
import type { AttemptView, EventView, Instant, JobId } from "../job.ts";
import type { AuditRow, AuditView } from "./audit.ts";
import type { BoundedCount, FailureGroup, JobPage, JobRecord, JobSearch, JobSort } from "./job-search.ts";
import type { StreamCursor, StreamPage } from "./event-stream.ts";
import type { FenceView, KindTotal, LanePause, Live, Minute, SlotUse, WorkerView } from "./overview.ts";

/** Nothing here reads a table from end to end: what may be large is counted up to a bound, and says so. */
export interface Operations {
  jobs(options: { search: JobSearch; sort: JobSort; cursor: string | null; limit: number }): Promise<JobPage>;
  /** By ids, with their first events; those that do not exist are left out. Large payloads are null, as in lists. */
  jobsById(
    ids: readonly JobId[],
  ): Promise<ReadonlyMap<JobId, { readonly job: JobRecord; readonly events: readonly EventView[] }>>;
  job(
    id: JobId,
  ): Promise<{ job: JobRecord; attempts: readonly AttemptView[]; events: readonly EventView[]; now: Instant } | null>;
  /** How many jobs match, up to `limit`. */
  count(search: JobSearch, limit: number): Promise<BoundedCount>;

  live(): Promise<Live>;
  lanePauses(): Promise<readonly LanePause[]>;
  slots(prefix: "cap:" | "lock:" | ""): Promise<readonly SlotUse[]>;
  /** Those seen after `since`, and all that run something now. */
  workers(since: Instant): Promise<readonly WorkerView[]>;
  failureGroups(options: { kind: string | null }): Promise<{ groups: readonly FailureGroup[]; isMore: boolean }>;
  fences(): Promise<readonly FenceView[]>;

  /** From the roll-up, oldest first; minutes in which nothing happened are left out. */
  minutes(options: { since: Instant; kind: string | null; lane: string | null }): Promise<readonly Minute[]>;
  kindTotals(): Promise<readonly KindTotal[]>;
  /** Adds up the next events. @returns how many; fewer than the limit means it has caught up. */
  rollUp(limit: number): Promise<number>;

  /** Writes who changed what. */
  note(rows: readonly AuditRow[]): Promise<void>;
  /** Newest first. `before` is the last id of the page before. */
  audits(options: { before: string | null; limit: number }): Promise<readonly AuditView[]>;

  /**
   * The events that became visible since the cursor, at most `limit`; null begins now. An event comes once for each cursor it
   * lies behind; one that is read again keeps its id.
   */
  stream(cursor: StreamCursor | null, limit: number): Promise<StreamPage>;
}
