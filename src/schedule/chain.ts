/** What becomes of the times of a chain: a schedule that follows another one. */
import { dayOf, dayRule } from "../calendar/days.ts";
import type { NominalTime } from "../calendar/fires.ts";
import type { Instant } from "../machine/job.ts";
import { reasons } from "../machine/reasons.ts";
import type { Chain, ChainPage, FollowedTime, ScheduleSpec } from "../machine/schedule.ts";
import type { TimeDecision } from "./catch-up.ts";
import type { SchedulePlan } from "./plan.ts";

/**
 * Decides each time of the page that is done or will not be followed; the others wait, and a later time does not wait for them.
 * Pure: the same page and now give the same plan.
 */
export function planChain({ row, times, until }: ChainPage, now: Instant): SchedulePlan {
  const decisions: TimeDecision[] = [];
  let decidedUntil = until;
  for (const time of times) {
    const verdict = verdictOf(row.spec, time, now);
    if (verdict === "waits") decidedUntil = Math.min(decidedUntil, time.nominalAt - 1);
    else if (verdict !== "none") decisions.push({ time: nominalOf(time), ...noJob, ...verdict });
  }
  return {
    decisions,
    decidedUntil: Math.max(row.decidedUntil, decidedUntil),
    nextAt: null,
    carry: null,
    missed: 0,
    isComplete: true,
  };
}

const noJob = { isCatchUp: false, missedCount: 0, dueAt: null };

type Verdict = Pick<TimeDecision, "outcome" | "reason"> & Partial<TimeDecision>;

function verdictOf(spec: ScheduleSpec, time: FollowedTime, now: Instant): Verdict | "waits" | "none" {
  const { nominalAt, outcome, reason, calendar } = time;
  if (spec.expression.form !== "after" || nominalAt < (spec.startAt ?? nominalAt)) return "none";
  if (spec.endAt !== null && nominalAt >= spec.endAt) return "none";
  if (outcome === "COALESCED") return { outcome, reason };
  const isNoTime = reason === reasons.dstGap || reason === reasons.excluded;
  if (outcome === "SKIPPED" && isNoTime) return { outcome, reason, time: { ...nominalOf(time), ...named(calendar) } };
  const excludedBy = spec.calendars && dayRule(spec.calendars).excludedBy(dayOf(time.localTime));
  if (excludedBy != null)
    return { outcome: "SKIPPED", reason: reasons.excluded, time: { ...nominalOf(time), calendar: excludedBy } };
  if (outcome === "SKIPPED") return { outcome, reason: reasons.notFollowed };
  if (isDone(spec.expression, time)) return { outcome: "PLANNED", reason: null, isCatchUp: time.isCatchUp, dueAt: now };
  return now > nominalAt + spec.expression.withinMs ? { outcome: "SKIPPED", reason: reasons.notFollowed } : "waits";
}

/** A failed one waits for the rest of its time: a person may retry it. */
function isDone({ on, withinMs }: Chain, { result, endedAt, nominalAt }: FollowedTime): boolean {
  const hasEnded = on === "end" ? result !== "open" : result === "succeeded";
  return hasEnded && endedAt !== null && endedAt <= nominalAt + withinMs;
}

const named = (calendar: string | null) => (calendar === null ? {} : { calendar });

const nominalOf = ({ localTime, fold, timezone, nominalAt }: FollowedTime): NominalTime => ({
  localTime,
  fold: fold === 1 ? 1 : 0,
  timezone,
  instant: nominalAt,
  kind: "fires",
  mergedInto: null,
});
