import type { JobId } from "../../../src/machine/job.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { noAftermath, type Aftermath } from "../../../src/machine/outbox.ts";
import type {
  Carry,
  PlannedOccurrence,
  PlannedSchedule,
  ScheduleRow,
  ScheduleSpec,
} from "../../../src/machine/schedule.ts";
import { contractLimits } from "../../../src/machine/contract-limits.ts";
import type { MovedRows } from "../../../src/machine/transaction.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import { decidePrematerialized, withdrawOutdated } from "./prematerialized.ts";
import { cancel } from "./control.ts";
import { insertOne } from "./insert.ts";
import type { JobRow, StoredSchedule } from "./rows.ts";
import { occurrenceKey, type Tables } from "./tables.ts";
import { pauseAt } from "../../../src/machine/pause.ts";

/** Writes the schedules of these apps from code; what these apps no longer have is removed. */
export function installSchedules(t: Tables, specs: readonly ScheduleSpec[], named: readonly string[] = []): void {
  const apps = new Set([...named, ...specs.map((spec) => spec.app)]);
  const wanted = new Set(specs.map((spec) => spec.id));
  for (const row of Array.from(t.schedules.values())) {
    if (!apps.has(row.spec.app) || wanted.has(row.id) || row.source === "api" || row.removed) continue;
    removeSchedule(t, row);
  }
  for (const spec of specs) installOne(t, spec);
}

function installOne(t: Tables, spec: ScheduleSpec): void {
  const stored = storedSchedule(t, spec.id);
  if (stored === undefined) {
    const removed = t.schedules.get(spec.id);
    // Under another spec it counts as an edit: what was written ahead goes, also what a person ran again since.
    if (removed !== undefined && canonical(removed.spec) !== canonical(spec)) withdraw(t, spec.id, spec);
    return addSchedule(t, spec, "code");
  }
  changeSchedule(t, stored, spec);
  t.schedules.set(spec.id, { ...t.schedules.row(spec.id), source: "code" });
}

/** What there is of a schedule for everybody but a tick: nothing, once it was deleted. */
export function storedSchedule(t: Tables, id: string): StoredSchedule | undefined {
  const row = t.schedules.get(id);
  return row?.removed === true ? undefined : row;
}

/** A new schedule begins now, under a version its id never had, and with the undecided times of one that was deleted. */
export function addSchedule(t: Tables, spec: ScheduleSpec, source: "code" | "api"): void {
  const now = t.now();
  const version = 1 + Math.max(0, ...erasOf(t, spec.id).map((era) => era.version));
  const removed = t.schedules.get(spec.id);
  const begun =
    removed === undefined || removed.nextAt === null
      ? { decidedUntil: now, nextAt: spec.enabled ? now : null, carry: null }
      : { decidedUntil: Math.min(removed.decidedUntil, now), nextAt: now, carry: removed.carry };
  const left = removed?.canceledBelow === undefined ? {} : { canceledBelow: removed.canceledBelow };
  t.schedules.set(spec.id, { id: spec.id, version, pause: null, spec, source, ledgerFrom: now, ...begun, ...left });
  t.eras.append({ scheduleId: spec.id, version, spec, fromAt: now });
}

/** A changed spec is a new version from now on, with the pace of the old one; an equal one changes nothing. */
export function changeSchedule(t: Tables, stored: StoredSchedule, spec: ScheduleSpec): void {
  if (canonical(stored.spec) === canonical(spec)) return;
  const now = t.now();
  const version = stored.version + 1;
  withdraw(t, spec.id, spec);
  const isBehind = stored.spec.enabled && stored.decidedUntil < now;
  const isPending = isBehind || stored.carry?.edited === true;
  const decidedUntil = stored.spec.enabled || isPending ? Math.min(stored.decidedUntil, now) : now;
  const nextAt = spec.enabled || isPending ? now : null;
  const carry: Carry | null = isBehind ? edited(stored) : (stored.carry ?? null);
  t.schedules.set(spec.id, { ...stored, version, spec, decidedUntil, nextAt, carry });
  t.eras.append({ scheduleId: spec.id, version, spec, fromAt: now });
}

const nothing = { missed: 0, missedUntil: null, catchUpUntil: null };
const edited = ({ carry }: StoredSchedule): Carry => ({ ...(carry ?? nothing), edited: true });

/**
 * Its rows and versions stay; a last version without a spec says until when. Nothing of it starts any more: its jobs that wait are
 * left to `cancelRemoved`, and undecided times to a tick, for which the row stays.
 */
export function removeSchedule(t: Tables, row: StoredSchedule): void {
  const { id } = row;
  withdraw(t, id, null);
  const version = row.version + 1;
  const isBehind = row.carry?.edited === true || (row.spec.enabled && row.decidedUntil < t.now());
  const undecided = isBehind ? { nextAt: t.now(), carry: edited(row) } : { nextAt: null, carry: null };
  t.schedules.set(id, { ...row, version, removed: true, canceledBelow: version, pause: null, ...undecided });
  t.eras.append({ scheduleId: id, version, spec: null, fromAt: t.now() });
}

/** Jobs that wait of what was removed, the oldest time first. */
export const leftByRemoval = (t: Tables, id?: string): JobId[] =>
  Array.from(t.occurrences.values())
    .filter(({ scheduleId, jobId }) => (id === undefined || scheduleId === id) && jobId !== null)
    .filter(({ jobId }) => isLeftByRemoval(t, jobId ?? 0) && waits(t, jobId ?? 0))
    .toSorted((a, b) => a.nominalAt - b.nominalAt)
    .map(({ jobId }) => String(jobId) as JobId);

const waits = (t: Tables, jobId: number): boolean => {
  const job = t.jobs.get(jobId);
  return job !== undefined && job.state !== "RUNNING" && !isFinal(job.state);
};

export function isLeftByRemoval(t: Tables, jobId: number): boolean {
  const occurrence = t.occurrenceOf(jobId);
  const below = occurrence === undefined ? undefined : t.schedules.get(occurrence.scheduleId)?.canceledBelow;
  return occurrence?.outcome === "PLANNED" && below !== undefined && occurrence.version < below;
}

/** @returns of how many schedules jobs wait. */
export function endRemovals(t: Tables): number {
  const removals = Array.from(t.schedules.values()).filter((row) => row.canceledBelow !== undefined);
  const idle = removals.filter((row) => leftByRemoval(t, row.id).length === 0);
  for (const { canceledBelow: _, ...row } of idle) {
    if (row.removed !== true) t.schedules.set(row.id, row);
    else if (row.nextAt === null) t.schedules.delete(row.id);
  }
  return removals.length - idle.length;
}

export const cancelRemoved = (t: Tables, limit: number): MovedRows =>
  cancel(t, leftByRemoval(t).slice(0, limit), { reason: "deleted" }, "deleted");

export const erasOf = (t: Tables, id: string) => t.eras.rows.filter((era) => era.scheduleId === id);

/**
 * Takes back what was planned after now: the row is deleted, its job CANCELED, the event stays. A time without a job goes
 * too; one whose job ran or was ended stays.
 */
function withdraw(t: Tables, scheduleId: string, next: ScheduleSpec | null): void {
  decidePrematerialized(t, runLimits.prematerializedRunsMax, scheduleId);
  for (const row of Array.from(t.occurrences.values())) {
    if (row.scheduleId !== scheduleId || row.nominalAt <= t.now()) continue;
    if (row.outcome !== "PLANNED" && row.jobId !== null) continue;
    t.occurrences.delete(occurrenceKey(row));
    if (row.jobId !== null) cancel(t, [String(row.jobId) as JobId], { reason: "withdrawn" });
  }
  withdrawOutdated(t, scheduleId, next);
}

/** Occurrences and their jobs for the schedules that still have the version they were planned from. */
export function plan(
  t: Tables,
  plans: readonly PlannedSchedule[],
  dispatchWindowMs = t.dispatchWindowMs,
): { occurrences: number; passed: readonly string[]; aftermath: Aftermath } {
  const passed: string[] = [];
  const queued: JobRow[] = [];
  let occurrences = 0;
  for (const one of plans) {
    const schedule = t.schedules.get(one.scheduleId);
    const isNewer = one.decidedFrom !== undefined && (schedule?.decidedUntil ?? 0) > one.decidedFrom;
    if (schedule === undefined || schedule.version !== one.version || isNewer) {
      passed.push(one.scheduleId);
      continue;
    }
    for (const occurrence of one.occurrences) {
      if (planOne(t, schedule, occurrence, { queued, dispatchWindowMs })) occurrences += 1;
    }
    const latest = t.schedules.row(one.scheduleId);
    if (one.decidedUntil < latest.decidedUntil) continue;
    const carry = one.carry ?? null;
    t.schedules.set(latest.id, { ...latest, decidedUntil: one.decidedUntil, nextAt: one.nextAt, carry });
  }
  return { occurrences, passed, aftermath: { ...noAftermath, outbox: t.dispatch(queued) } };
}

/** @returns false when this nominal time has its row already. */
function planOne(
  t: Tables,
  schedule: StoredSchedule,
  planned: PlannedOccurrence,
  { queued, dispatchWindowMs }: { queued: JobRow[]; dispatchWindowMs: number },
): boolean {
  const { localTime, fold, timezone, nominalAt, effectiveAt = null, outcome, reason, calendar = null } = planned;
  const scheduleId = schedule.id;
  if (t.occurrences.get(occurrenceKey({ scheduleId, localTime, fold, timezone })) !== undefined) return false;
  const { isCatchUp: catchUp, missedCount: missed } = planned;
  const from = { scheduleId, scheduledFor: nominalAt, effectiveAt, catchUp, missed, dispatchWindowMs };
  const isPlanned = outcome === "PLANNED" && planned.job !== null;
  const made = isPlanned && planned.job !== null ? insertOne(t, planned.job, queued, from) : null;
  t.putOccurrence({
    scheduleId,
    localTime,
    fold,
    timezone,
    nominalAt,
    effectiveAt,
    outcome,
    reason,
    calendar,
    version: planned.version ?? schedule.version,
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
    .filter((row) => row.nextAt !== null && row.nextAt <= until)
    .toSorted((a, b) => (a.nextAt ?? 0) - (b.nextAt ?? 0) || (a.id < b.id ? -1 : 1))
    .slice(0, options.limit)
    .map((row) => scheduleRow(t, row));
}

export function schedules(
  t: Tables,
  page: { readonly after?: string | undefined; readonly limit?: number } = {},
): ScheduleRow[] {
  const { after = "", limit = contractLimits.schedulesMax } = page;
  return [...t.schedules.values()]
    .filter((row) => row.removed !== true && row.id > after)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .slice(0, limit)
    .map((row) => scheduleRow(t, row));
}

export function scheduleRow(
  t: Tables,
  { ledgerFrom: _ledgerFrom, canceledBelow: _below, ...row }: StoredSchedule,
): ScheduleRow {
  return { ...row, pause: pauseAt(row, t.now()), source: row.source ?? "code" };
}

/** JSON with sorted keys, as `jsonb` compares. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
