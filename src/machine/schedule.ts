import type { Instant, JobId, Json, NewJob } from "./job.ts";
import type { Pause } from "./pause.ts";

/** When a schedule fires: a cron expression in a zone, elapsed time, one instant, or after another schedule. */
export type Expression =
  | { readonly form: "cron"; readonly cron: string }
  | { readonly form: "every"; readonly everyMs: number }
  | { readonly form: "at"; readonly at: Instant }
  | Chain;

/** Its nominal times are those of `schedule`. It fires at each that is done within `withinMs` after the nominal time. */
export interface Chain {
  readonly form: "after";
  readonly schedule: string;
  readonly withinMs: number;
  /** `end`: also after one that failed or was canceled. */
  readonly on: "success" | "end";
}

export type GapRule = "auto" | "skip" | "shift" | "first-valid";
export type OverlapReadings = "auto" | "first" | "second" | "both";

/** Days by local date, as stored: sorted texts, each followed by its name if it has one. */
export interface CalendarDays {
  readonly id: string;
  /** `2026-12-25 Christmas`, `2026-12-24..2027-01-01`. */
  readonly dates: readonly string[];
  readonly weekdays: readonly Weekday[];
  /** `12-25`, `12-24..01-02`: each year. */
  readonly yearly: readonly string[];
}

export type Weekday = "sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat";
export const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const satisfies readonly Weekday[];

export type OnExcluded = "skip" | "next" | "previous" | "next-business-day" | "previous-business-day";

/** On which days a schedule may fire: on those of `only` that are in no calendar of `except`. */
export interface CalendarRule {
  readonly except: readonly CalendarDays[];
  readonly only: CalendarDays | null;
  readonly onExcluded: OnExcluded;
}

/** Its times are due so long after themselves. */
export interface Spread {
  /** As it was asked for. */
  readonly withinMs: number;
  /** Its own part of that, from 0 up to `withinMs`. */
  readonly offsetMs: number;
}

/** Which share of its times is good: starts and has succeeded so soon after it is due. */
export interface Objective {
  /** Null: it may start at any time. */
  readonly onTimeMs: number | null;
  /** Null: it may end at any time, and in any way. */
  readonly endsWithinMs: number | null;
  /** Above 0 and below 1. */
  readonly share: number;
  readonly overMs: number;
}

/** When the job of a nominal time is due. */
export const effectiveAt = ({ spread }: Pick<ScheduleSpec, "spread">, nominal: Instant): Instant =>
  nominal + (spread?.offsetMs ?? 0);

/** What starts its jobs: the scheduler's passes, or an EventBridge rule of its own. */
export type Launch = "tick" | "rule";

export interface Misfire {
  readonly rule: "skip" | "latest" | "all";
  readonly maxAgeMs: number | null;
  readonly maxCount: number | null;
  /** Milliseconds between two caught-up jobs. */
  readonly paceMs: number;
}

/** What the job of an occurrence looks like; the tick adds times. */
export interface ScheduledJob extends Omit<NewJob, "key" | "dueAt" | "delayMs" | "trace" | "payload" | "expiresAt"> {}

/** What a time does while the job of an earlier one has not ended. */
export const overlapRules = ["skip", "queue-one", "queue-all", "cancel-running", "allow"] as const;
export type Overlap = (typeof overlapRules)[number];

/** A schedule as code or an operator defines it. Stored as it is; a change of any field is a new version. */
export interface ScheduleSpec {
  readonly id: string;
  readonly app: string;
  readonly expression: Expression;
  /** IANA name; UTC for `every` and `at`. */
  readonly timezone: string;
  readonly dst: { readonly gap: GapRule; readonly overlap: OverlapReadings };
  /** Absent: it fires on every day that its expression names. */
  readonly calendars?: CalendarRule;
  readonly misfire: Misfire;
  readonly overlap: Overlap;
  /** Absent: its times are due when they come. */
  readonly spread?: Spread;
  /** Absent: nothing is promised. */
  readonly objective?: Objective;
  /** Milliseconds after a time is due when its job expires; absent: never. */
  readonly startDeadlineMs?: number;
  readonly startAt: Instant | null;
  readonly endAt: Instant | null;
  readonly enabled: boolean;
  /** Version of the time-zone data the spec was computed with, e.g. `2026d`. */
  readonly tzVersion: string;
  /** The fixed payload, or null when the definition computes one per occurrence. */
  readonly payload: Json | null;
  readonly job: ScheduledJob;
  /** Milliseconds before the nominal time at which its job is due, for a fan-out that writes its targets early. */
  readonly materializeBeforeMs: number;
  readonly launch: Launch;
}

export interface ScheduleRow {
  readonly id: string;
  readonly version: number;
  readonly source: "code" | "api";
  /** Null: it is not paused. */
  readonly pause: Pause | null;
  readonly spec: ScheduleSpec;
  /** Every nominal time up to and including this instant has its occurrence. */
  readonly decidedUntil: Instant;
  /**
   * When a tick must plan it next: when the next undecided time is due, less `materializeBeforeMs`.
   * Null when the schedule has ended.
   */
  readonly nextAt: Instant | null;
  /** What the previous tick left for the next one. An edit keeps it, and may add to it. */
  readonly carry?: Carry | null;
  /** It was deleted with undecided times. Only a tick sees such a row, decides them, and deletes the row. */
  readonly removed?: true;
}

/** Facts that outlive a tick, so that a crash between two rounds changes no decision. */
export interface Carry {
  /** Missed nominal times without a job; the next job gets their number as `missedCount`. */
  readonly missed: number;
  /** Times up to here belong to an outage that an earlier page found, even if they now look only late. */
  readonly missedUntil: Instant | null;
  /** Due time of the last caught-up job: the next one is due `paceMs` after it, or after now if that is later. */
  readonly catchUpUntil: Instant | null;
  /** An edit left undecided times of the version before it: they are decided first, by that version. */
  readonly edited?: true;
}

export type OccurrenceOutcome = "PLANNED" | "FIRED" | "CAUGHT_UP" | "COALESCED" | "SKIPPED";
export const occurrenceOutcomes = [
  "PLANNED",
  "FIRED",
  "CAUGHT_UP",
  "COALESCED",
  "SKIPPED",
] as const satisfies readonly OccurrenceOutcome[];

/**
 * One nominal time with its decision. `job` is null for those that never get one (COALESCED, SKIPPED by policy).
 * `nominalAt` is unique among a schedule's rows, except for COALESCED and SKIPPED `dst-gap` and `excluded` ones: a skipped reading
 * has the instant of the old clock, which a reading of the new clock may share, and so may one of an excluded day in a gap.
 */
export interface PlannedOccurrence {
  /** Wall-clock reading `YYYY-MM-DDTHH:MM[:SS]` in the schedule's zone, and which pass of an overlap (0 or 1). */
  readonly localTime: string;
  readonly fold: 0 | 1;
  /** Part of the row's key: after an edit of the zone the same reading may come again. */
  readonly timezone: string;
  readonly nominalAt: Instant;
  /** When its job is due, if it is spread. */
  readonly effectiveAt?: Instant;
  readonly outcome: "PLANNED" | "COALESCED" | "SKIPPED";
  readonly reason: string | null;
  /** The calendar that excluded its day, and why: `holidays: 2026-12-25 Christmas`. Left out: none did. */
  readonly calendar?: string;
  readonly isCatchUp: boolean;
  readonly missedCount: number;
  readonly job: NewJob | null;
  /** The version of the schedule that decided it; left out, it is the one that the plan names. */
  readonly version?: number;
}

/** What a tick decided for one schedule; written only if the schedule still has `version`. */
export interface PlannedSchedule {
  readonly scheduleId: string;
  readonly version: number;
  readonly decidedUntil: Instant;
  /** Null when nothing is left to decide: the schedule has ended, and one that was removed is deleted now. */
  readonly nextAt: Instant | null;
  readonly occurrences: readonly PlannedOccurrence[];
  /**
   * `decidedUntil` of the row this was computed from. Written only if the stored one is not later, to the millisecond: two
   * concurrent ticks must not both choose the latest missed time.
   */
  readonly decidedFrom?: Instant;
  /** Stored with the schedule and given back in its row. */
  readonly carry?: Carry | null;
}

/** How the job of an occurrence ended, or the run that it started. `stopped`: canceled or skipped, neither good nor bad. */
export const endResults = ["succeeded", "failed", "stopped", "open"] as const;
export type EndResult = (typeof endResults)[number];

/** A time of the schedule before a chain, of which the chain has no row. */
export interface FollowedTime extends OccurrencePlace {
  readonly outcome: OccurrenceOutcome;
  readonly reason: string | null;
  readonly calendar: string | null;
  readonly isCatchUp: boolean;
  readonly result: EndResult;
  /** Null while it is open. */
  readonly endedAt: Instant | null;
}

/** What a tick may decide of a chain: the oldest page of times after its `decidedUntil`, in order. */
export interface ChainPage {
  readonly row: ScheduleRow;
  readonly times: readonly FollowedTime[];
  /** Up to here the page has every time, and none will be added. */
  readonly until: Instant;
}

/** Where a row stands in a schedule's ledger; no two rows have the same. */
export interface OccurrencePlace {
  readonly nominalAt: Instant;
  readonly localTime: string;
  readonly fold: number;
  /** The zone whose clock `localTime` was read from. */
  readonly timezone: string;
}

export interface OccurrenceView extends OccurrencePlace {
  readonly scheduleId: string;
  /** When it was due, if the schedule was spread. */
  readonly effectiveAt: Instant | null;
  readonly outcome: OccurrenceOutcome;
  readonly reason: string | null;
  /** The calendar that excluded the day of its reading; with a job it was moved from there to `nominalAt`. */
  readonly calendar: string | null;
  readonly decidedAt: Instant | null;
  readonly latenessMs: number | null;
  readonly version: number;
  readonly jobId: JobId | null;
}

export const scheduleLimits = {
  nextFireYearsMax: 230,
  missedAfterMs: 120_000,
  zoneChunksMax: 1_024,
  timetablesMax: 20_000,
  reportedProblemsMax: 1_000,
  scheduleVersionsMax: 10_000,
  holderLookBackMax: 3_000,
  holderLookAheadMax: 500,
  holderTimesMax: 100,
  replacedMax: 100,
  answersMax: 50,
  ruleGraceMs: 90_000,
  ruleEarlyMs: 10_000,
  removedCountedMax: 1_000,
  calendarPatternYears: 28,
} as const;
