import { reasons } from "../machine/reasons.ts";
import type { NominalTime } from "../calendar/fires.ts";
import type { Instant } from "../machine/job.ts";
import { type Carry, type Misfire, scheduleLimits } from "../machine/schedule.ts";
import { newestTimes, type Timetable } from "../calendar/timetable.ts";

/** What becomes of one nominal time. `dueAt` is null for those that get no job. */
export interface TimeDecision {
  readonly time: NominalTime;
  readonly outcome: "PLANNED" | "COALESCED" | "SKIPPED";
  readonly reason: string | null;
  readonly isCatchUp: boolean;
  /** Nominal times missed before this one that got no job. */
  readonly missedCount: number;
  readonly dueAt: Instant | null;
}

export interface CatchUpInput {
  readonly table: Timetable;
  readonly misfire: Misfire;
  readonly after: Instant;
  readonly now: Instant;
  readonly materializeBeforeMs: number;
  /** Its times are due so long after themselves. */
  readonly offsetMs: number;
  readonly carry: Carry | null | undefined;
  /** No more times lie within the horizon. */
  readonly isLastPage: boolean;
}

export interface CaughtUp {
  readonly decisions: readonly TimeDecision[];
  readonly carry: Carry | null;
  /** How many of the times were missed. */
  readonly missed: number;
}

/**
 * Decides the times of one page, in order. A time that was due more than `missedAfterMs` ago begins an outage; a less late one
 * fires late. In an outage every time up to now counts as missed, so `latest` gives one job and not another for each time
 * of the last two minutes. Only `skip` still fires the times of the last `missedAfterMs`.
 */
export function decideTimes(times: readonly NominalTime[], input: CatchUpInput): CaughtUp {
  const missedUntil = missedBound(times, input);
  const rule = missedRule(input, missedUntil);
  const { misfire, now, offsetMs } = input;
  let missedBefore = input.carry?.missed ?? 0;
  let catchUpUntil = Math.max(now, input.carry?.catchUpUntil ?? now);
  let missed = 0;
  const decisions = times.map((time): TimeDecision => {
    const isMissed = time.kind === "fires" && time.instant + offsetMs <= missedUntil;
    if (isMissed) missed += 1;
    const verdict = isMissed ? rule(time) : verdictOf(time);
    if (verdict.outcome !== "PLANNED") {
      if (isMissed) missedBefore += 1;
      return { time, ...verdict, isCatchUp: false, missedCount: 0, dueAt: null };
    }
    const missedCount = missedBefore;
    missedBefore = 0;
    if (!isMissed) {
      return {
        time,
        ...verdict,
        isCatchUp: false,
        missedCount,
        dueAt: time.instant + offsetMs - input.materializeBeforeMs,
      };
    }
    if (misfire.rule === "all") catchUpUntil += misfire.paceMs;
    return { time, ...verdict, isCatchUp: true, missedCount, dueAt: misfire.rule === "all" ? catchUpUntil : now };
  });
  const until = input.isLastPage || missedUntil - offsetMs <= input.after ? null : missedUntil;
  const paced = catchUpUntil > now ? catchUpUntil : null;
  return { decisions, missed, carry: carryOf({ missed: missedBefore, missedUntil: until, catchUpUntil: paced }) };
}

/** The end of the outage that this page or an earlier one found. */
function missedBound(times: readonly NominalTime[], { misfire, now, carry, offsetMs }: CatchUpInput): Instant {
  const lateFrom = now - scheduleLimits.missedAfterMs;
  const isOutage = times.some((time) => time.kind === "fires" && time.instant + offsetMs < lateFrom);
  const seen = carry?.missedUntil ?? Number.NEGATIVE_INFINITY;
  return isOutage ? Math.max(seen, misfire.rule === "skip" ? lateFrom - 1 : now) : seen;
}

type Verdict = Pick<TimeDecision, "outcome" | "reason">;

const planned: Verdict = { outcome: "PLANNED", reason: null };
const misfired: Verdict = { outcome: "SKIPPED", reason: reasons.misfire };
const into = (localTime: string): Verdict => ({ outcome: "COALESCED", reason: `into ${localTime}` });

function verdictOf(time: NominalTime): Verdict {
  if (time.kind === "excluded") return { outcome: "SKIPPED", reason: reasons.excluded };
  if (time.kind === "dst-gap") return { outcome: "SKIPPED", reason: reasons.dstGap };
  return time.mergedInto === null ? planned : into(time.mergedInto);
}

/** The misfire policy as a function of one missed time. */
function missedRule(input: CatchUpInput, missedUntil: Instant): (time: NominalTime) => Verdict {
  const { misfire, table, after, now, offsetMs } = input;
  const oldest = misfire.maxAgeMs === null ? Number.NEGATIVE_INFINITY : now - misfire.maxAgeMs - offsetMs;
  if (misfire.rule === "skip") return () => misfired;
  if (misfire.rule === "latest") {
    const [newest] = newestTimes(table, after, missedUntil - offsetMs, 1);
    if (newest === undefined || newest.instant < oldest) return () => misfired;
    return (time) => (time.instant === newest.instant ? planned : into(newest.localTime));
  }
  const [first] = misfire.maxCount === null ? [] : newestTimes(table, after, missedUntil - offsetMs, misfire.maxCount);
  const from = Math.max(oldest, first?.instant ?? oldest);
  return (time) => (time.instant >= from ? planned : misfired);
}

const carryOf = (carry: Carry): Carry | null =>
  carry.missed === 0 && carry.missedUntil === null && carry.catchUpUntil === null ? null : carry;
