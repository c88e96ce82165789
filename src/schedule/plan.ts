import { decideTimes, type TimeDecision } from "./catch-up.ts";
import type { Instant } from "../machine/job.ts";
import { type Carry, scheduleLimits, type ScheduleRow, type ScheduleSpec } from "../machine/schedule.ts";
import { take, timetable } from "../calendar/timetable.ts";
import { reasons } from "../machine/reasons.ts";
import type { ScheduleControlStore, ScheduleVersion } from "../machine/schedule-store.ts";
import { type VersionInterval, versionIntervals } from "../calendar/version-intervals.ts";

/** One schedule's decided times, before jobs are made for them. */
export interface SchedulePlan {
  readonly decisions: readonly TimeDecision[];
  readonly decidedUntil: Instant;
  /** When to look again, or null when the schedule has ended. */
  readonly nextAt: Instant | null;
  readonly carry: Carry | null;
  readonly missed: number;
  /** False when more times lie within the horizon than fit in one page. */
  readonly isComplete: boolean;
}

export interface SchedulePlanOptions {
  readonly now: Instant;
  readonly dispatchWindowMs: number;
  /** Times in a page. Readings of one gap stay together, so it may be more. */
  readonly timesMax: number;
  /** False for a version that an edit has ended: an outage continues into the next one. */
  readonly isLastVersion?: boolean;
}

/**
 * Decides every nominal time of an enabled schedule, after `decidedUntil` up to its horizon. Pure: the same row and now give
 * the same plan, so two concurrent schedulers write the same rows.
 * @throws RangeError when the stored expression or zone cannot be read.
 */
export function planSchedule(row: ScheduleRow, options: SchedulePlanOptions): SchedulePlan {
  const { spec, decidedUntil: after } = row;
  const { now } = options;
  const table = timetable(spec);
  const horizon = horizonOf(spec, options);
  const times = take(table.times(after, horizon), options.timesMax);
  const isComplete = times.length < options.timesMax;
  const decidedUntil = Math.max(after, isComplete ? horizon : (times.at(-1)?.instant ?? after));
  const { materializeBeforeMs, misfire } = spec;
  const offsetMs = spec.spread?.offsetMs ?? 0;
  const decided = decideTimes(times, {
    table,
    misfire,
    after,
    now,
    materializeBeforeMs,
    offsetMs,
    carry: row.carry,
    isLastPage: isComplete && options.isLastVersion !== false,
  });
  const next = table.next(decidedUntil);
  return {
    ...decided,
    decidedUntil,
    nextAt:
      next === null
        ? null
        : next.instant + offsetMs - materializeBeforeMs + (spec.launch === "rule" ? scheduleLimits.ruleGraceMs : 0),
    isComplete,
  };
}

/**
 * A schedule with its own rule is left to its task, until the wake must have been lost. An ended version decides its spread times
 * early: they are over, only their jobs are not due yet.
 */
function horizonOf({ launch, materializeBeforeMs, spread }: ScheduleSpec, options: SchedulePlanOptions): Instant {
  if (launch === "rule") return options.now - scheduleLimits.ruleGraceMs;
  const offsetMs = options.isLastVersion === false ? 0 : (spread?.offsetMs ?? 0);
  return options.now + options.dispatchWindowMs + materializeBeforeMs - offsetMs;
}

/** A page of decided times, and the version that decided them. */
export interface VersionPlan {
  /** The stored row with the version and spec that decided them. */
  readonly row: ScheduleRow;
  readonly plan: SchedulePlan;
}

/**
 * The next page of a schedule. Undecided times before an edit belong to the version before it and are decided by its policy,
 * the oldest version first; then the current version follows. Times before a deletion are decided too, but start nothing.
 * @throws RangeError when a stored expression or zone cannot be read.
 */
export async function planNext(
  store: Pick<ScheduleControlStore, "scheduleFacts">,
  row: ScheduleRow,
  options: SchedulePlanOptions,
): Promise<VersionPlan> {
  if (row.carry?.edited !== true) return { row, plan: planOwn(row, options) };
  const facts = await store.scheduleFacts(row.id);
  return planVersions(row, facts?.versions ?? [], options);
}

/** Pure part of `planNext`: the oldest version that has undecided times, or the current version when none has. */
export function planVersions(
  stored: ScheduleRow,
  versions: readonly ScheduleVersion[],
  options: SchedulePlanOptions,
): VersionPlan {
  const intervals = versionIntervals(versions);
  const open = intervals.filter((each) => each.until > stored.decidedUntil);
  // What a chain waits for when it is edited goes on by the edited one.
  const isEditedChain = stored.removed !== true && open.every(({ spec }) => isChain(spec));
  const past = isEditedChain ? undefined : open.find((each) => each.version < stored.version);
  if (past !== undefined) return planPast(begun(stored, past, versions), past, versions, options);
  if (stored.removed === true) return { row: stored, plan: off(stored.decidedUntil, null) };
  const own = intervals.find((each) => each.version === stored.version);
  const row = own === undefined ? stored : begun(stored, own, versions);
  return { row, plan: planOwn(row, options) };
}

const planOwn = (row: ScheduleRow, options: SchedulePlanOptions): SchedulePlan =>
  row.spec.enabled && !isChain(row.spec) ? planSchedule(row, options) : off(row.decidedUntil, null);

const isChain = ({ expression }: ScheduleSpec): boolean => expression.form === "after";

const nothingCarried: Carry = { missed: 0, missedUntil: null, catchUpUntil: null };

/** A schedule that was deleted and made again starts fresh: the times in between belong to no version, so none was missed. */
function begun(
  row: ScheduleRow,
  { version, from }: VersionInterval,
  versions: readonly ScheduleVersion[],
): ScheduleRow {
  const isNew = versions.some(
    (each) => each.spec === null && each.version < version && each.fromAt >= row.decidedUntil,
  );
  return isNew ? { ...row, decidedUntil: Math.max(row.decidedUntil, from), carry: null } : row;
}

function planPast(
  row: ScheduleRow,
  { version, spec, until }: VersionInterval,
  versions: readonly ScheduleVersion[],
  options: SchedulePlanOptions,
): VersionPlan {
  const endAt = Math.min(spec.endAt ?? until + 1, until + 1);
  const decider: ScheduleRow = { ...row, version, spec: { ...spec, endAt, launch: "tick" } };
  const plan = spec.enabled
    ? planSchedule(decider, { ...options, isLastVersion: false })
    : off(until, row.carry ?? null);
  const wasDeleted = versions.some((each) => each.spec === null && each.version > version);
  const decisions = wasDeleted ? plan.decisions.map(withoutJob) : plan.decisions;
  const decidedUntil = Math.min(plan.decidedUntil, until);
  const carry: Carry = { ...(plan.carry ?? nothingCarried), edited: true };
  return { row: decider, plan: { ...plan, decisions, decidedUntil, nextAt: decidedUntil, carry, isComplete: false } };
}

/** A deleted schedule starts nothing, not even for times before its deletion. */
const withoutJob = (decision: TimeDecision): TimeDecision =>
  decision.outcome === "PLANNED"
    ? { ...decision, outcome: "SKIPPED", reason: reasons.deleted, isCatchUp: false, missedCount: 0, dueAt: null }
    : decision;

/** The times of a version that is off belong to no version and get no row; those of a chain are decided by `planChain`. */
const off = (decidedUntil: Instant, carry: Carry | null): SchedulePlan => ({
  decisions: [],
  decidedUntil,
  nextAt: null,
  carry,
  missed: 0,
  isComplete: true,
});
