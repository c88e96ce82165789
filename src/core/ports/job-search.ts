import type { Instant, JobId, JobView, RunId } from "../job/job.ts";
import type { State } from "../job/state.ts";

/** What a person looks for; what is left out does not narrow. Travels as JSON, also into a stored change of many jobs. */
export interface JobSearch {
  readonly id?: JobId;
  /** Each is the id, or a part of the kind, the key or the error, in any case. */
  readonly words?: readonly string[];
  readonly states?: readonly State[];
  readonly kind?: string;
  /** Only of these kinds; with `kind`, both must hold. */
  readonly kinds?: readonly string[];
  readonly lane?: string;
  readonly key?: string;
  readonly errorCode?: string;
  /** Failures of one of these groups, as the dead letters are grouped. */
  readonly fingerprints?: readonly string[];
  readonly runId?: RunId;
  /** Without tasks whose branch was not taken. */
  readonly taken?: true;
  readonly scheduleId?: string;
  readonly worker?: string;
  readonly dueFrom?: Instant;
  readonly dueTo?: Instant;
  /** Whether it waits for a slot, a paused lane or tasks before it. */
  readonly held?: boolean;
  /** Members of the payload and the text they must have. */
  readonly payload?: readonly { readonly path: readonly string[]; readonly value: string }[];
}

/** Of the plain list, the newest first. */
export interface JobFilter {
  readonly states?: readonly State[];
  readonly kind?: string;
  readonly lane?: string;
  readonly key?: string;
  /** Rows with a smaller id: the cursor of the next page. */
  readonly before?: JobId;
  readonly limit: number;
}

/** `newest` and `oldest` by id; `due` by due time, of jobs that wait to start. */
export const jobSorts = ["newest", "oldest", "due"] as const;
export type JobSort = (typeof jobSorts)[number];

export interface JobPage {
  /** Payloads above `operationsLimits.listPayloadBytesMax` are null here. */
  readonly jobs: readonly JobView[];
  /** Where the next page begins; null when nothing is left. */
  readonly cursor: string | null;
  /**
   * False when the search ended before it filled the page: ask again with the cursor. By due time also when more is out, held or
   * blocked than such a list looks at; it leaves those out.
   */
  readonly complete: boolean;
}

/** When a search answers with what it has found. */
export interface SearchBound {
  readonly looksMax: number;
  readonly lookMs: number;
}

/** A count that stops at a bound. */
export interface BoundedCount {
  readonly count: number;
  readonly isMore: boolean;
}

/** How the failures of one kind look alike. */
export interface FailureGroup {
  readonly fingerprint: string;
  readonly kind: string;
  readonly errorCode: string | null;
  /** Of the newest. */
  readonly errorMessage: string | null;
  readonly jobs: number;
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  /** The newest ones. */
  readonly samples: readonly { readonly jobId: JobId; readonly at: Instant; readonly message: string | null }[];
}
