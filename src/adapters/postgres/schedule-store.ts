import { hash } from "node:crypto";
import type { JobId, NewJob } from "../../core/job/job.ts";
import { contractLimits } from "../../core/job/contract-limits.ts";
import type { Store, Tx } from "../../core/ports/ports.ts";
import { runLimits } from "../../core/ports/run-limits.ts";
import type {
  Carry,
  OccurrenceOutcome,
  OccurrenceView,
  PlannedOccurrence,
  PlannedSchedule,
  ScheduleRow,
  ScheduleSpec,
} from "../../core/ports/schedule.ts";
import { aftermathOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import { cancelOpen } from "./sql/control.ts";
import { planOccurrences } from "./sql/plan.ts";
import {
  findChanged,
  findPlanned,
  lockChanged,
  lockInstall,
  type OccurrenceRow,
  readDue,
  readOccurrences,
  readSchedules,
  removeSchedules,
  takeOver,
  type StoredScheduleRow,
  withdrawPlanned,
  writeSchedules,
} from "./sql/schedule.ts";
import { columns, execute } from "./statement.ts";
import { changeInTime, withdrawOutdated } from "./prematerialized.ts";
import { pauseOf } from "./pause.ts";

type ScheduleMethods = "installSchedules" | "dueSchedules" | "plan" | "schedules" | "occurrences";

export function scheduleStore(session: Session): Pick<Store, ScheduleMethods> {
  return {
    async installSchedules(specs, { apps = [] } = {}) {
      const all = [...new Set([...apps, ...specs.map((spec) => spec.app)])];
      if (all.length > 0) await session.transaction((tx) => install(tx, specs, all));
    },
    async dueSchedules({ horizonMs, limit }) {
      const rows = await session.run(readDue, [horizonMs, limit]);
      return { now: rows[0]?.now ?? 0, schedules: rows.flatMap((row) => (row.id === null ? [] : [scheduleRow(row)])) };
    },
    plan: (plans, options) => plan(session, plans, options),
    async schedules({ after, limit = contractLimits.schedulesMax } = {}) {
      return (await session.run(readSchedules, [limit, after ?? ""])).map(scheduleRow);
    },
    async occurrences(scheduleId, limit, after) {
      const row = [after?.nominalAt, after?.localTime, after?.fold, after?.timezone].map((value) => value ?? null);
      return (await session.run(readOccurrences, [scheduleId, limit, ...row])).map(occurrenceView);
    },
  };
}

/** Locks only what it changes: no other installer is beside it, and people change only schedules that code has not. */
async function install(tx: Tx, specs: readonly ScheduleSpec[], apps: readonly string[]): Promise<void> {
  const all = new Map(specs.map((spec) => [spec.id, spec]));
  await execute(tx, lockInstall);
  const found = (await execute(tx, findChanged, [...specColumns(specs), apps])).map((row) => row.id);
  if (found.length === 0) return;
  const wanted = found.flatMap((id) => all.get(id) ?? []);
  const texts = found.map((id) => (all.has(id) ? JSON.stringify(all.get(id)) : null));
  const locked = await execute(tx, lockChanged, [found, texts]);
  const idsTo = (what: string): readonly string[] => locked.flatMap((row) => (row.what === what ? [row.id] : []));
  const dropped = idsTo("drop");
  const changed = [...dropped, ...idsTo("edit")];
  const write = async (): Promise<void> => {
    if (dropped.length > 0) await execute(tx, removeSchedules, [dropped]);
    await execute(tx, writeSchedules, specColumns(wanted));
    await execute(tx, takeOver, [wanted.map((spec) => spec.id)]);
  };
  if (changed.length === 0) return write();
  await changeInTime(tx, changed, async () => {
    await withdraw(tx, changed, (id) => all.get(id) ?? null);
    await write();
  });
}

const specColumns = (specs: readonly ScheduleSpec[]): unknown[][] =>
  columns(
    specs,
    (spec) => spec.id,
    (spec) => JSON.stringify(spec),
  );

/** Withdraws what the old version decided for later times, in pages. `next`: the new version, null when deleted. */
export async function withdraw(
  tx: Tx,
  ids: readonly string[],
  next: (id: string) => ScheduleSpec | null,
): Promise<void> {
  const planned = (await execute(tx, findPlanned, [ids])).map((row) => row.id);
  const canceled: string[] = [];
  for (let from = 0; from < planned.length; from += runLimits.cancelRowsMax) {
    const page = planned.slice(from, from + runLimits.cancelRowsMax);
    canceled.push(...(await execute(tx, cancelOpen, [page, "withdrawn", true, null])).map((row) => row.id));
  }
  await execute(tx, withdrawPlanned, [ids, canceled]);
  await withdrawOutdated(tx, ids, next);
}

async function plan(
  session: Session,
  plans: readonly PlannedSchedule[],
  { dispatchWindowMs = session.dispatchWindowMs, fence }: Parameters<Store["plan"]>[1] = {},
): ReturnType<Store["plan"]> {
  const values = [...planColumns(plans), ...occurrenceColumns(plans.flatMap(occurrencesOf)), dispatchWindowMs];
  const rows = await session.fenced(fence, planOccurrences, values);
  return {
    occurrences: rows[0]?.occurrences ?? 0,
    passed: rows[0]?.passed ?? [],
    aftermath: aftermathOf(rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ ...row, id }]))),
  };
}

const planColumns = (plans: readonly PlannedSchedule[]): unknown[][] =>
  columns(
    plans,
    (plan) => plan.scheduleId,
    (plan) => plan.version,
    (plan) => plan.decidedFrom ?? null,
    (plan) => plan.decidedUntil,
    (plan) => plan.nextAt,
    (plan) => (plan.carry == null ? null : JSON.stringify(plan.carry)),
  );

interface Planned {
  readonly scheduleId: string;
  readonly occurrence: PlannedOccurrence;
  readonly job: NewJob | null;
}

const occurrencesOf = (plan: PlannedSchedule): readonly Planned[] =>
  plan.occurrences.map((occurrence) => ({ scheduleId: plan.scheduleId, occurrence, job: occurrence.job }));

const occurrenceColumns = (rows: readonly Planned[]): unknown[][] =>
  columns(
    rows,
    (row) => row.scheduleId,
    ({ occurrence }) => occurrence.localTime,
    ({ occurrence }) => occurrence.fold,
    ({ occurrence }) => occurrence.timezone,
    ({ occurrence }) => occurrence.nominalAt,
    ({ occurrence }) => occurrence.outcome,
    ({ occurrence }) => occurrence.reason,
    ({ occurrence }) => occurrence.isCatchUp,
    ({ occurrence }) => occurrence.missedCount,
    ({ job }) => job?.kind ?? null,
    ({ job }) => (job === null ? null : JSON.stringify(job.payload)),
    ({ job }) => (job === null ? null : hash("sha256", job.canonicalInput, "hex")),
    ({ job }) => job?.lane ?? null,
    ({ job }) => job?.dueAt ?? null,
    ({ job }) => job?.delayMs ?? null,
    ({ job }) => (job === null ? null : JSON.stringify(policyOf(job))),
    ({ occurrence }) => occurrence.version ?? null,
  );

/** The fields that the tick copies. */
export const policyOf = ({
  leaseMs,
  maxAttempts,
  retentionMs,
  expiresAt,
  slotKeys,
  trace,
}: NewJob): Record<string, unknown> => ({
  leaseMs,
  maxAttempts,
  retentionMs,
  trace,
  ...(expiresAt === null ? {} : { expiresAt }),
  ...(slotKeys.length === 0 ? {} : { slotKeys }),
});

export const scheduleRow = (row: StoredScheduleRow): ScheduleRow => ({
  id: row.id,
  version: row.version,
  source: row.source,
  pause: pauseOf(row),
  spec: row.spec as ScheduleSpec,
  decidedUntil: row.decided_until,
  nextAt: row.next_at,
  carry: row.carry as Carry | null,
  ...(row.removed === true ? { removed: true } : {}),
});

export const occurrenceView = (row: OccurrenceRow): OccurrenceView => ({
  scheduleId: row.schedule_id,
  localTime: row.local_time,
  fold: row.fold,
  timezone: row.timezone,
  nominalAt: row.nominal_at,
  outcome: row.outcome as OccurrenceOutcome,
  reason: row.reason,
  decidedAt: row.decided_at,
  latenessMs: row.lateness_ms === null ? null : Number(row.lateness_ms),
  version: row.schedule_version,
  jobId: row.job_id as JobId | null,
});
