/** What an explanation is made from, and what it says. */
import type { JobView } from "../machine/job.ts";
import type { TimeQuery } from "../calendar/asked-time.ts";
import type { VersionInterval } from "../calendar/version-intervals.ts";
import type { Chain, OccurrenceView } from "../machine/schedule.ts";
import type { ScheduleFacts } from "../machine/schedule-store.ts";
import type { OccurrenceEndReply } from "./occurrence-ends.ts";
import type { SlotHolder } from "./occurrences.ts";

export interface ExplainInput {
  readonly facts: ScheduleFacts;
  readonly asked: TimeQuery;
  /** The version in force, or null. */
  readonly interval: VersionInterval | null;
  readonly occurrence: OccurrenceView | null;
  readonly job: JobView | null;
  /** Of the job's newest event. */
  readonly lastReason: string | null;
  /** Who made that event. */
  readonly lastCaller: string | null;
  /** Of the job; null when it has none, or none that is kept. */
  readonly end: OccurrenceEndReply | null;
  /** The job that held the slot this one needed. */
  readonly holder: SlotHolder | null;
  /** The row that a COALESCED one was merged into. */
  readonly into: OccurrenceView | null;
  /** Of a chain: the same time of the schedule that it follows. */
  readonly followed: Followed | null;
}

export interface Followed {
  readonly chain: Chain;
  /** Null: it has no row, or none of that schedule was decided yet. */
  readonly occurrence: OccurrenceView | null;
  /** Null: it has none, it is not kept, or the caller may not see it. */
  readonly end: OccurrenceEndReply | null;
}

export type TimeVerdict =
  | "ran"
  | "failed"
  | "running"
  | "canceled"
  | "retrying"
  | "planned"
  | "planned-paused"
  | "prematerialized"
  | "prematerialized-paused"
  | "waiting-for-slot"
  | "waiting-for-worker"
  | "waits-for-schedule"
  | "coalesced"
  | "skipped"
  | "disabled"
  | "not-due"
  | "deleted"
  | "undecided"
  | "not-in-force"
  | "before-schedule"
  | "never-nominal";

export interface Explanation {
  /** Stable, for programs; with its reason where it was skipped: `skipped-overlap`. */
  readonly verdict: TimeVerdict | `skipped-${string}`;
  readonly sentence: string;
  /** What to do, or null when nothing is wrong. */
  readonly advice: string | null;
}
