/** The port for operators: searches, counts and changes of many jobs, each bounded. */
import type { Aftermath } from "./aftermath.ts";
import type { Message } from "./outbox.ts";
import type { AttemptTrace, Instant, JobId, JobView, MoveView } from "../job/job.ts";
import type { Archived, ArchiveLag } from "./archive.ts";
import type { AuditRow, AuditView } from "./audit.ts";
import type { Bulk, BulkAction } from "./bulk.ts";
import type { AskedBy, Tally } from "./ports.ts";
import type { BoundedCount, SearchBound, FailureGroup, JobPage, JobSearch, JobSort } from "./job-search.ts";
import type { ReaderPlace, StreamCursor, StreamEvent, StreamPage } from "./event-stream.ts";
import type { KindFigures } from "./kind-figures.ts";
import type { NewPause } from "./pause.ts";
import type { RunMaps } from "./run-map.ts";
import type { Secrecy } from "./secrecy.ts";
import type { ScheduleOutcomes } from "./schedule-outcome.ts";
import type { WaitingFacts } from "./waiting.ts";
import type {
  Failures,
  FenceView,
  Health,
  KindTotal,
  LanePause,
  LastPass,
  Live,
  Minute,
  SlotHolders,
  SlotUse,
  Trouble,
  WorkerView,
} from "./overview.ts";

/** No call reads a whole table: what may be large is counted up to a bound, and the answer says so. */
export interface Operations extends Tally, ScheduleOutcomes, RunMaps, KindFigures, Secrecy {
  jobs(options: { search: JobSearch; sort: JobSort; cursor: string | null; limit: number }): Promise<JobPage>;
  /** By ids; unknown ids are left out. Large payloads are null, as in lists. */
  jobsById(
    ids: readonly JobId[],
  ): Promise<ReadonlyMap<JobId, { readonly job: JobView; readonly events: readonly MoveView[] }>>;
  /** One attempt that runs or has ended; null when there is no such attempt. */
  attempt(id: JobId, attempt: number): Promise<AttemptTrace | null>;
  /** How many jobs match, up to `limit`: those found within so many looks and that time, by default `countLooksMax` and `searchMs`. */
  count(search: JobSearch, limit: number, bound?: SearchBound): Promise<BoundedCount>;

  /** What decides when a job runs; counts stop at `limit`. */
  waiting(id: JobId, limit: number): Promise<WaitingFacts | null>;

  live(rowsMax: number): Promise<Live>;
  lanePauses(): Promise<readonly LanePause[]>;
  /** By the beginning of their keys. */
  slots(prefix: string): Promise<readonly SlotUse[]>;
  /** Who holds the slots of one group; null: there is no such group. */
  slot(key: string): Promise<SlotHolders | null>;
  /** Workers seen after `since`, and all that run a job now. */
  workers(since: Instant): Promise<readonly WorkerView[]>;
  /** Once for each worker. The events show what it does. */
  registerWorker(worker: {
    readonly id: string;
    readonly lane: string;
    readonly version: string;
    /** Where CloudWatch keeps its log, as `region:name`. */
    readonly logGroup?: string | null;
  }): Promise<void>;
  failureGroups(options: { kind: string | null }): Promise<{ groups: readonly FailureGroup[]; isMore: boolean }>;
  fences(): Promise<readonly FenceView[]>;
  /** Under the lock of this name; null when there was none yet. */
  lastPass(lockName: string): Promise<LastPass | null>;
  /** Lets the server write some temporary pages. Throws as any other call does where its disk is full. */
  probeDisk(): Promise<void>;
  /** @param overdueMs occurrences PLANNED for longer ago are counted, up to a bound. */
  health(overdueMs: number): Promise<Health>;
  trouble(): Promise<Trouble>;
  failures(): Promise<Failures>;
  /** Each part of which something has left or should have; none in a stage without an archive. */
  archived(): Promise<readonly Archived[]>;
  /** By part of the archive, of those that it has. */
  archiveLags(): Promise<readonly ArchiveLag[]>;

  /** From the roll-up, oldest first; minutes in which nothing happened are left out. */
  minutes(options: {
    since: Instant;
    kinds: readonly string[] | null;
    lane: string | null;
  }): Promise<readonly Minute[]>;
  kindTotals(): Promise<readonly KindTotal[]>;
  /** Adds up the next events. @returns how many; fewer than `limit` means that none is left. */
  rollUp(limit: number): Promise<number>;

  /** Writes who changed what. */
  note(rows: readonly AuditRow[]): Promise<void>;
  /**
   * Newest first. `before` is the last id of the page before. Of one `target` and what lies below its path: only the newest
   * `operationsLimits.auditsSearchedMax` are looked through.
   */
  audits(options: { before: string | null; limit: number; target?: string | undefined }): Promise<readonly AuditView[]>;

  /**
   * At most `limit` events that became visible since the cursor; null begins now. An event that is read again, from an older
   * cursor, keeps its id.
   */
  stream(cursor: StreamCursor | null, limit: number): Promise<StreamPage>;

  /** How far a named reader of the events is. Null the first time: it begins now. */
  reader(name: string): Promise<ReaderPlace | null>;
  /** For `publishLimits.publishLeaseMs`. @returns its new version; null when it moved, has another owner, or must wait. */
  takeReader(name: string, of: { owner: string; version: string }): Promise<string | null>;
  /** Releases it; it may be taken again after a wait that doubles with each failure. */
  failReader(name: string, of: { owner: string; version: string }): Promise<void>;
  /** Marks these events and moves the reader past them, in one transaction. @returns false for another owner's reader. */
  markPublished(
    name: string,
    place: { owner: string; version: string; cursor: StreamCursor; events: readonly StreamEvent[] },
  ): Promise<boolean>;

  /** Within a second no worker of the lane starts a job any more; jobs whose message arrives are put on hold. Null resumes it. */
  pauseLane(lane: string, pause: NewPause | null): Promise<void>;
  isPaused(lane: string): Promise<boolean>;
  /** QUEUED under that generation -> PENDING, on hold. @returns the ids that were held. */
  holdPaused(messages: readonly Message[]): Promise<readonly JobId[]>;
  /** Held jobs may start again; the relay dispatches them. @returns how many. */
  unholdPaused(lane: string, limit: number): Promise<number>;
  /** The same for every lane that is not paused: of a pause that has ended by itself, or put on hold while their lane was resumed. @returns how many. */
  unholdOpen(limit: number): Promise<number>;
  /** PENDING or RETRY_WAIT, not blocked, not on hold -> QUEUED, due now. @returns the ids that were moved. */
  runNow(
    ids: readonly JobId[],
    options?: AskedBy,
  ): Promise<{ readonly ids: readonly JobId[]; readonly aftermath: Aftermath }>;
  /**
   * FAILED, CANCELED or SKIPPED -> PENDING, the first due at `dueAt` (not before now), each other `paceMs` later; those due
   * within the dispatch window -> QUEUED at once. Jobs of runs are left out.
   */
  retryPaced(
    ids: readonly JobId[],
    options: AskedBy & { dueAt: Instant; paceMs: number },
  ): Promise<{ readonly ids: readonly JobId[]; readonly aftermath: Aftermath }>;

  createBulk(bulk: {
    action: BulkAction;
    search: JobSearch;
    caller: string;
    matched: BoundedCount;
    paceMs: number;
    canary: boolean;
  }): Promise<Bulk>;
  /** Newest first; `id` narrows to one. */
  bulks(options: { id?: string; before?: string | undefined; limit: number }): Promise<readonly Bulk[]>;
  /**
   * The oldest RUNNING one that no process has continued for `operationsLimits.bulkLeaseMs`. One that waits for its canaries, or
   * for the due time of its next job, is left out.
   */
  takeBulk(owner: string): Promise<Bulk | null>;
  /** Notes the jobs that go first. @returns false when it was stopped or has another owner. */
  sendCanaries(id: string, owner: string, sent: { jobs: readonly JobId[]; takenAlong: number }): Promise<boolean>;
  /** Its next jobs, and the cursor of the next page, or null. */
  bulkPage(
    bulk: Pick<Bulk, "search" | "next">,
    limit: number,
  ): Promise<{ readonly ids: readonly JobId[]; readonly next: string | null }>;
  /** @returns false when it was stopped or has another owner. */
  advanceBulk(
    id: string,
    owner: string,
    page: { next: string | null; changed: number; takenAlong: number; refused: number },
  ): Promise<boolean>;
  /** Times of a backfill were planned, or had no payload. @returns false when it was stopped or has another owner. */
  advanceBackfill(
    id: string,
    owner: string,
    page: { changed: number; refused: number; isLast: boolean },
  ): Promise<boolean>;
  stopBulk(id: string): Promise<boolean>;
}
