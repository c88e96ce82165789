import type { Instant } from "../job.ts";
import type { Carry, ScheduleRow } from "./schedule.ts";
import type { ScheduleControlStore, ScheduleEra } from "./schedule-store.ts";
import { type Stretch, stretchesOf } from "./eras.ts";
import { type PlanOptions, planSchedule, type SchedulePlan } from "./plan.ts";

/** A page of decided times, and the version that decided them. */
export interface EraPlan {
  /** The stored row with the version and spec of the era. */
  readonly row: ScheduleRow;
  readonly plan: SchedulePlan;
}

/**
 * The next page of a schedule. After an edit during an outage the times up to the edit belong to the version before it,
 * and are decided by that one, era by era, each by its own policy; the current version follows when they are done.
 * @throws RangeError when a stored expression or zone cannot be read.
 */
export async function planNext(
  store: Pick<ScheduleControlStore, "scheduleFacts">,
  row: ScheduleRow,
  options: PlanOptions,
): Promise<EraPlan> {
  if (row.carry?.edited !== true) return { row, plan: planSchedule(row, options) };
  const facts = await store.scheduleFacts(row.id);
  return planEras(row, facts?.eras ?? [], options);
}

/** Pure part of `planNext`: the oldest era that has undecided times, or the current version when none has. */
export function planEras(row: ScheduleRow, eras: readonly ScheduleEra[], options: PlanOptions): EraPlan {
  const past = stretchesOf(eras).find((era) => era.version < row.version && era.until > row.decidedUntil);
  if (past !== undefined) return planPast(row, past, options);
  return { row, plan: row.spec.enabled ? planSchedule(row, options) : off(row.decidedUntil, null) };
}

const nothingCarried: Carry = { missed: 0, missedUntil: null, catchUpUntil: null };

function planPast(row: ScheduleRow, { version, spec, until }: Stretch, options: PlanOptions): EraPlan {
  const endAt = Math.min(spec.endAt ?? until + 1, until + 1);
  const era: ScheduleRow = { ...row, version, spec: { ...spec, endAt, launch: "tick" } };
  const plan = spec.enabled ? planSchedule(era, { ...options, isLastEra: false }) : off(until, row.carry ?? null);
  const decidedUntil = Math.min(plan.decidedUntil, until);
  const carry: Carry = { ...(plan.carry ?? nothingCarried), edited: true };
  return { row: era, plan: { ...plan, decidedUntil, nextAt: decidedUntil, carry, isComplete: false } };
}

/** The times of a version that is or was off are nobody's. */
const off = (decidedUntil: Instant, carry: Carry | null): SchedulePlan => ({
  decisions: [],
  decidedUntil,
  nextAt: null,
  carry,
  missed: 0,
  isComplete: true,
});
