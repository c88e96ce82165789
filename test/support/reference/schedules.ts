import type { JobId } from "../../../src/core/job.ts";
import type { Handoff } from "../../../src/core/ports.ts";
import type { PlannedOccurrence, PlannedSchedule, ScheduleRow, ScheduleSpec } from "../../../src/core/schedule.ts";
import { cancel } from "./control.ts";
import { insertOne } from "./insert.ts";
import type { JobRow, StoredSchedule } from "./rows.ts";
import { occurrenceKey } from "./tables.ts";
import type { Tables } from "./tables.ts";

/** Writes the schedules of these apps from code; what these apps no longer have is removed. */
export function installSchedules(t: Tables, specs: readonly ScheduleSpec[]): void {
  const apps = new Set(specs.map((spec) => spec.app));
  const wanted = new Set(specs.map((spec) => spec.id));
  for (const row of Array.from(t.schedules.values())) {
    if (!apps.has(row.spec.app) || wanted.has(row.id)) continue;
    withdraw(t, row.id);
    t.schedules.delete(row.id);
  }
  for (const spec of specs) installOne(t, spec);
}

function installOne(t: Tables, spec: ScheduleSpec): void {
  const now = t.now();
  const stored = t.schedules.get(spec.id);
  if (stored === undefined) {
    t.schedules.set(spec.id, {
      id: spec.id,
      version: 1,
      paused: false,
      spec,
      decidedUntil: now,
      nextAt: now,
      carry: null,
    });
    return;
  }
  if (canonical(stored.spec) === canonical(spec)) return;
  withdraw(t, spec.id);
  const decidedUntil = Math.min(stored.decidedUntil, now);
  t.schedules.set(spec.id, { ...stored, version: stored.version + 1, spec, decidedUntil, nextAt: now, carry: null });
}

/** Takes back what was planned after now: the row is deleted, its job CANCELED, the event stays. */
function withdraw(t: Tables, scheduleId: string): void {
  for (const row of Array.from(t.occurrences.values())) {
    if (row.scheduleId !== scheduleId || row.outcome !== "PLANNED" || row.nominalAt <= t.now()) continue;
    t.occurrences.delete(occurrenceKey(row));
    if (row.jobId !== null) cancel(t, [String(row.jobId) as JobId], "withdrawn");
  }
}

/** Occurrences and their jobs for the schedules that still have the version they were planned from. */
export function plan(
  t: Tables,
  plans: readonly PlannedSchedule[],
  lookAheadMs: number,
): { occurrences: number; handoffs: readonly Handoff[] } {
  const queued: JobRow[] = [];
  let occurrences = 0;
  for (const one of plans) {
    const schedule = t.schedules.get(one.scheduleId);
    if (schedule === undefined || schedule.version !== one.version) continue;
    if (one.decidedFrom !== undefined && schedule.decidedUntil > one.decidedFrom) continue;
    for (const occurrence of one.occurrences) {
      if (planOne(t, schedule, occurrence, lookAheadMs, queued)) occurrences += 1;
    }
    const latest = t.schedules.row(one.scheduleId);
    if (one.decidedUntil < latest.decidedUntil) continue;
    const carry = one.carry ?? null;
    t.schedules.set(latest.id, { ...latest, decidedUntil: one.decidedUntil, nextAt: one.nextAt, carry });
  }
  return { occurrences, handoffs: t.handOff(queued) };
}

/** @returns false when this nominal time has its row already. */
function planOne(
  t: Tables,
  schedule: StoredSchedule,
  planned: PlannedOccurrence,
  lookAheadMs: number,
  queued: JobRow[],
): boolean {
  const { localTime, fold, nominalAt, outcome, reason } = planned;
  const scheduleId = schedule.id;
  if (t.occurrences.get(occurrenceKey({ scheduleId, localTime, fold })) !== undefined) return false;
  const from = { scheduleId, scheduledFor: nominalAt, catchUp: planned.isCatchUp, missed: planned.missedCount };
  const isPlanned = outcome === "PLANNED" && planned.job !== null;
  const made = isPlanned && planned.job !== null ? insertOne(t, planned.job, lookAheadMs, queued, from) : null;
  t.putOccurrence({
    scheduleId,
    localTime,
    fold,
    nominalAt,
    outcome,
    reason,
    version: schedule.version,
    jobId: made === null ? null : Number(made.id),
    catchUp: planned.isCatchUp,
    decidedAt: outcome === "PLANNED" ? null : t.now(),
    latenessMs: null,
  });
  return true;
}

export function dueSchedules(t: Tables, options: { horizonMs: number; limit: number }): ScheduleRow[] {
  const until = t.now() + options.horizonMs;
  return [...t.schedules.values()]
    .filter((row) => row.spec.enabled && row.nextAt !== null && row.nextAt <= until)
    .toSorted((a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0) || (a.id < b.id ? -1 : 1))
    .slice(0, options.limit)
    .map(scheduleRow);
}

export const scheduleRow = (row: StoredSchedule): ScheduleRow => ({ ...row, source: "code" });

/** JSON with sorted keys, as `jsonb` compares. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
