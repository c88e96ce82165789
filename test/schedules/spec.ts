import type { TimeDecision } from "../../src/schedule/catch-up.ts";
import type { NominalTime } from "../../src/calendar/fires.ts";
import { planSchedule } from "../../src/schedule/plan.ts";
import type { Misfire, ScheduleRow, ScheduleSpec } from "../../src/machine/schedule.ts";
import { timetable } from "../../src/calendar/timetable.ts";

export const minute = 60_000;
export const hour = 60 * minute;
/** A Saturday, midnight UTC. */
export const midnight = Date.UTC(2026, 10, 21);

export const latest: Misfire = { rule: "latest", maxAgeMs: null, maxCount: null, paceMs: 1_000 };

export function aSpec(over: Partial<ScheduleSpec> = {}): ScheduleSpec {
  return {
    id: "s",
    app: "test",
    expression: { form: "every", everyMs: minute },
    timezone: "UTC",
    dst: { gap: "auto", overlap: "auto" },
    misfire: latest,
    overlap: "allow",
    startAt: null,
    endAt: null,
    enabled: true,
    tzVersion: "2020a",
    payload: null,
    job: { kind: "work", lane: "default", leaseMs: 20_000, maxAttempts: 4, retentionMs: 7 * 86_400_000, slotKeys: [] },
    materializeBeforeMs: 0,
    launch: "tick",
    ...over,
  };
}

export const aRow = (over: Partial<ScheduleRow> = {}): ScheduleRow => ({
  id: "s",
  version: 1,
  source: "code",
  pause: null,
  spec: aSpec(),
  decidedUntil: midnight,
  nextAt: midnight,
  carry: null,
  ...over,
});

/** Plans page after page at one instant, as the rounds of a tick do. */
export function planAll(row: ScheduleRow, options: { now: number; dispatchWindowMs: number; timesMax: number }) {
  const decisions: TimeDecision[] = [];
  let missed = 0;
  for (let pages = 1; ; pages++) {
    const plan = planSchedule(row, options);
    decisions.push(...plan.decisions);
    missed += plan.missed;
    row = { ...row, decidedUntil: plan.decidedUntil, nextAt: plan.nextAt, carry: plan.carry };
    if (plan.isComplete) return { row, decisions, missed, pages };
  }
}

/** The policy over one stretch, said in the plainest way: no pages, nothing carried over. */
export function expectedDecisions(row: ScheduleRow, now: number, dispatchWindowMs: number): readonly TimeDecision[] {
  const { misfire, materializeBeforeMs } = row.spec;
  const times = [...timetable(row.spec).times(row.decidedUntil, now + dispatchWindowMs + materializeBeforeMs)];
  const fires = times.filter((time) => time.kind === "fires");
  const isOutage = fires.some((time) => time.instant < now - 2 * minute);
  const isMissed = (time: NominalTime) =>
    isOutage && (misfire.rule === "skip" ? time.instant < now - 2 * minute : time.instant <= now);
  const missed = fires.filter(isMissed);
  const young = missed.filter((time) => misfire.maxAgeMs === null || time.instant >= now - misfire.maxAgeMs);
  const kept: readonly NominalTime[] = {
    skip: [],
    latest: young.slice(-1),
    all: young.slice(-(misfire.maxCount ?? young.length) || young.length),
  }[misfire.rule];
  let dropped = row.carry?.missed ?? 0;
  let paced = Math.max(now, row.carry?.catchUpUntil ?? now);
  return times.map((time): TimeDecision => {
    const no = { time, isCatchUp: false, missedCount: 0, dueAt: null };
    if (time.kind === "dst-gap") return { ...no, outcome: "SKIPPED", reason: "dst-gap" };
    if (time.kind === "merged") return { ...no, outcome: "COALESCED", reason: `into ${time.mergedInto}` };
    if (isMissed(time) && !kept.includes(time)) {
      dropped += 1;
      const newest = kept[0];
      return misfire.rule === "latest" && newest !== undefined
        ? { ...no, outcome: "COALESCED", reason: `into ${newest.localTime}` }
        : { ...no, outcome: "SKIPPED", reason: "misfire" };
    }
    const missedCount = dropped;
    dropped = 0;
    const job = { time, outcome: "PLANNED", reason: null, missedCount } as const;
    if (!isMissed(time)) return { ...job, isCatchUp: false, dueAt: time.instant - materializeBeforeMs };
    if (misfire.rule === "all") paced += misfire.paceMs;
    return { ...job, isCatchUp: true, dueAt: misfire.rule === "all" ? paced : now };
  });
}
