/** Schedules with what became of their times: the ledger says what was decided, the job or run says how it ended. */
import type { Instant, JobId, JobView, RunId } from "../job/job.ts";
import type { State } from "../job/state.ts";
import type { RunState } from "./run.ts";
import type { OccurrenceView, ScheduleRow } from "./schedule.ts";

/** `stopped`: canceled or skipped, neither good nor bad. */
export const endResults = ["succeeded", "failed", "stopped", "open"] as const;
export type EndResult = (typeof endResults)[number];

/** How the job of an occurrence stands, or the run that it started: the run's state counts then. */
export interface OccurrenceEnd {
  readonly jobId: JobId;
  /** Of the run it started, else of the job: the schedule may have another one by now. */
  readonly kind: string;
  /** Null when the job was pruned and its run is still kept. */
  readonly state: State | null;
  /** What a job that has not ended waits for; null for the others. */
  readonly waits: Pick<JobView, "blocked" | "hold" | "failures" | "dueAt"> | null;
  readonly run: { readonly id: RunId; readonly state: RunState; readonly failed: number } | null;
  readonly result: EndResult;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
  /** Why a job that was CANCELED or SKIPPED was ended, for example `expired`; null for the others. */
  readonly reason: string | null;
}

/** `failing`: the last one that ended failed. `late`: its next time is past and nothing was decided. */
export const scheduleStates = ["active", "failing", "late", "paused", "off", "ended"] as const;
export type ScheduleState = (typeof scheduleStates)[number];

export const scheduleSorts = ["id", "next", "lateness", "failing"] as const;
export type ScheduleSort = (typeof scheduleSorts)[number];

/** All of it must hold. */
export interface ScheduleSearch {
  /** Each is a part of the id, the kind or the app, in any case. */
  readonly words?: readonly string[] | undefined;
  readonly id?: string | undefined;
  readonly kind?: string | undefined;
  /** Only those that run one of these kinds. */
  readonly kinds?: readonly string[] | undefined;
  readonly app?: string | undefined;
  readonly zone?: string | undefined;
  readonly state?: ScheduleState | undefined;
  /** Its last start was later than that, in milliseconds. */
  readonly lateOverMs?: number | undefined;
}

/** Since when a schedule fails. `isMore`: every occurrence that was read failed. */
export interface FailingSince {
  readonly since: Instant | null;
  readonly succeededAt: Instant | null;
  readonly isMore: boolean;
}

export interface SchedulePage {
  readonly schedules: readonly ScheduleRow[];
  readonly total: number;
  /** More may be failing, or later than was asked: not every failure or schedule was looked at. */
  readonly isMore: boolean;
}

export interface ScheduleOutcomes {
  searchSchedules(options: {
    search: ScheduleSearch;
    sort: ScheduleSort;
    offset: number;
    limit: number;
  }): Promise<SchedulePage>;
  /** Schedules that have times to come, those first that a tick looks at next. */
  comingSchedules(
    search: Pick<ScheduleSearch, "app" | "kinds"> & { readonly lane?: string | undefined },
    limit: number,
  ): Promise<readonly ScheduleRow[]>;
  /** The latest `each` past times of every schedule, the newest first. */
  latestOccurrences(ids: readonly string[], each: number): Promise<readonly OccurrenceView[]>;
  /** Of those jobs that are kept, or whose run is. */
  occurrenceEnds(jobs: readonly JobId[]): Promise<ReadonlyMap<JobId, OccurrenceEnd>>;
  /** Looks at the latest `each` times of every schedule. */
  failingSince(ids: readonly string[], each: number): Promise<ReadonlyMap<string, FailingSince>>;
}
