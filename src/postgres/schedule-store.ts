import type { NewJob } from "../machine/job.ts";
import { chunksOf } from "../machine/chunks.ts";
import { contractLimits } from "../machine/contract-limits.ts";
import type { Store } from "../machine/store.ts";
import type { Tx } from "../machine/transaction.ts";
import { runLimits } from "../machine/run-limits.ts";
import type { PlannedSchedule, ScheduleSpec } from "../machine/schedule.ts";
import { aftermathOf } from "./outbox.ts";
import type { Session } from "./session.ts";
import { cancelOpen } from "./sql/control.ts";
import { planOccurrences } from "./sql/plan.ts";
import * as sql from "./sql/schedule.ts";
import { arrayLiteral, columns, execute } from "./statement.ts";
import { changeInTime, withdrawOutdated } from "./prematerialized.ts";

export function scheduleStore(session: Session) {
  return {
    async installSchedules(specs, { apps = [] } = {}) {
      const all = [...new Set([...apps, ...specs.map((spec) => spec.app)])];
      if (all.length > 0) await session.transaction((tx) => install(tx, specs, all));
    },
    async dueSchedules({ horizonMs, limit }) {
      const rows = await session.run(sql.readDue, [horizonMs, limit]);
      const schedules = rows.flatMap(({ now: _now, isRemoved, ...row }) =>
        row.id === null ? [] : [isRemoved ? { ...row, removed: true as const } : row],
      );
      return { now: rows[0]?.now ?? 0, schedules };
    },
    async chains({ ids, timesMax }) {
      const rows = await session.run(sql.readChains, [ids, timesMax]);
      const chains = rows.map(({ now: _now, times, until, ...row }) => ({ row, times, until }));
      return { now: rows[0]?.now ?? 0, chains };
    },
    plan: (plans, options) => plan(session, plans, options),
    schedules: ({ after, limit = contractLimits.schedulesMax } = {}) =>
      session.run(sql.readSchedules, [limit, after ?? ""]),
  } satisfies Partial<Store>;
}

/** Locks only what it changes: no other installer is beside it, and people change only schedules that code has not. */
async function install(tx: Tx, specs: readonly ScheduleSpec[], apps: readonly string[]): Promise<void> {
  const all = new Map(specs.map((spec) => [spec.id, spec]));
  await execute(tx, sql.lockInstall);
  const found = (await execute(tx, sql.findChanged, [...specColumns(specs), apps])).map((row) => row.id);
  if (found.length === 0) return;
  const wanted = found.flatMap((id) => all.get(id) ?? []);
  const texts = found.map((id) => (all.has(id) ? JSON.stringify(all.get(id)) : null));
  const locked = await execute(tx, sql.lockChanged, [found, texts]);
  const idsTo = (what: string): readonly string[] => locked.flatMap((row) => (row.what === what ? [row.id] : []));
  const dropped = idsTo("drop");
  const changed = [...dropped, ...idsTo("edit")];
  const write = async (): Promise<void> => {
    if (dropped.length > 0) await execute(tx, sql.removeSchedules, [dropped]);
    await execute(tx, sql.writeSchedules, specColumns(wanted));
    await execute(tx, sql.takeOver, [wanted.map((spec) => spec.id)]);
  };
  if (changed.length === 0) return write();
  await changeInTime(tx, changed, async () => {
    await withdraw(tx, changed, (id) => all.get(id) ?? null);
    await write();
  });
}

const specColumns = (specs: readonly ScheduleSpec[]): unknown[][] => [
  specs.map(({ id }) => id),
  specs.map((spec) => JSON.stringify(spec)),
];

/** Withdraws what the old version decided for later times, in pages. `next`: the new version, null when deleted. */
export async function withdraw(
  tx: Tx,
  ids: readonly string[],
  next: (id: string) => ScheduleSpec | null,
): Promise<void> {
  const planned = (await execute(tx, sql.findPlanned, [ids])).map((row) => row.id);
  const canceled: string[] = [];
  for (const page of chunksOf(planned, runLimits.cancelRowsMax))
    canceled.push(...(await execute(tx, cancelOpen, [page, "withdrawn", true, null])).map((row) => row.id));
  await execute(tx, sql.withdrawPlanned, [ids, canceled]);
  await withdrawOutdated(tx, ids, next);
}

async function plan(
  session: Session,
  plans: readonly PlannedSchedule[],
  { dispatchWindowMs = session.dispatchWindowMs, fence }: Parameters<Store["plan"]>[1] = {},
): ReturnType<Store["plan"]> {
  const values = [...planColumns(plans), ...occurrenceColumns(plans), dispatchWindowMs];
  const rows = await session.fenced(fence, planOccurrences, values);
  return {
    occurrences: rows[0]?.occurrences ?? 0,
    passed: rows[0]?.passed ?? [],
    aftermath: aftermathOf(rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ ...row, id }]))),
  };
}

const planColumns = (plans: readonly PlannedSchedule[]): unknown[][] => [
  ...columns(plans, "scheduleId", "version", "decidedFrom", "decidedUntil", "nextAt"),
  plans.map(({ carry }) => (carry == null ? null : JSON.stringify(carry))),
];

function occurrenceColumns(plans: readonly PlannedSchedule[]): unknown[][] {
  const occurrences = plans.flatMap((plan) => plan.occurrences);
  const jobs = occurrences.map(({ job }) => job);
  return [
    plans.flatMap((plan) => plan.occurrences.map(() => plan.scheduleId)),
    ...columns(occurrences, "localTime", "fold", "timezone", "nominalAt", "outcome", "reason", "calendar"),
    ...columns(occurrences, "isCatchUp", "missedCount", "version", "effectiveAt"),
    ...columns(jobs.map(orNone), "dueAt", "delayMs", "expiresAt"),
    ...columnsOfJobs(jobs),
  ];
}

const orNone = (job: NewJob | null): Partial<NewJob> => job ?? {};

/** What the job of a time is given, but for when. */
export const columnsOfJobs = (jobs: readonly (NewJob | null)[]): unknown[][] => [
  jobs.map((job) => job?.kind),
  jobs.map((job) => (job === null ? null : JSON.stringify(job.payload))),
  ...columns(jobs.map(orNone), "lane", "leaseMs", "maxAttempts", "retentionMs", "trace"),
  jobs.map((job) => (job === null ? null : arrayLiteral(job.slotKeys))),
];
