import type { Tx } from "../machine/transaction.ts";
import { scheduleLimits, type ScheduleRow, type ScheduleSpec } from "../machine/schedule.ts";
import type {
  Backfilled,
  BackfillTime,
  ScheduleChangeOptions,
  ScheduleControlStore,
  ScheduleRefusal,
} from "../machine/schedule-store.ts";
import { readOccurrencesBetween } from "../insight/occurrences.ts";
import { insightLimits } from "../insight/insight-limits.ts";
import { moveRows } from "./outbox.ts";
import { columnsOfJobs, withdraw } from "./schedule-store.ts";
import type { Session } from "./session.ts";
import { backfillTimes } from "./sql/backfill.ts";
import { cancelRemoved, countRemoved, endRemovals } from "./sql/control.ts";
import { removeSchedules, writeSchedules } from "./sql/schedule.ts";
import { insertSchedule, lockSchedule, readSchedule, readVersions, setPause } from "./sql/schedule-control.ts";
import { columns, execute } from "./statement.ts";
import { changeInTime } from "./prematerialized.ts";
import type { NewPause } from "../machine/pause.ts";
import { pauseValues } from "./sql/lane.ts";

export function scheduleControlStore(session: Session): ScheduleControlStore {
  return {
    scheduleFacts: (id) => session.transaction((tx) => facts(tx, id)),
    createSchedule: (spec) => session.transaction((tx) => create(tx, spec)),
    updateSchedule: (spec, options) => session.transaction((tx) => update(tx, spec, options)),
    pauseSchedule: (id, wanted) => session.transaction((tx) => pause(tx, id, wanted)),
    deleteSchedule: (id, options) => session.transaction((tx) => remove(tx, id, options)),
    async endRemovals({ fence } = {}) {
      return (await session.fenced(fence, endRemovals, [insightLimits.removalsMax]))[0]?.left ?? 0;
    },
    cancelRemoved: ({ limit, ...options }) => moveRows(session, cancelRemoved, [limit], options),
    async removedJobs(limit) {
      return (await session.run(countRemoved, [null, limit]))[0]?.jobs ?? 0;
    },
    occurrencesBetween: (id, from, until, limit) =>
      session.run(readOccurrencesBetween, readOccurrencesBetween.params({ id, from, until, limit })),
    backfill: (id, times, options) => session.transaction((tx) => backfill(tx, id, times, options)),
  };
}

async function facts(tx: Tx, id: string): ReturnType<ScheduleControlStore["scheduleFacts"]> {
  const rows = await execute(tx, readVersions, [id, scheduleLimits.scheduleVersionsMax]);
  const [first] = rows;
  if (first === undefined) return null;
  const [row = null] = await execute(tx, readSchedule, [id]);
  const versions = rows.map(({ version, spec, fromAt }) => ({ version, spec, fromAt }));
  return { now: first.now, row, ledgerFrom: first.ledgerFrom, versions };
}

async function create(tx: Tx, spec: ScheduleSpec): Promise<ScheduleRow | ScheduleRefusal> {
  const made = await execute(tx, insertSchedule, [JSON.stringify(spec)]);
  return made.length === 0 ? { refused: "exists" } : stored(tx, spec.id);
}

async function update(
  tx: Tx,
  spec: ScheduleSpec,
  options?: ScheduleChangeOptions,
): Promise<ScheduleRow | ScheduleRefusal> {
  const text = JSON.stringify(spec);
  const [locked] = await execute(tx, lockSchedule, [spec.id, text]);
  if (locked === undefined) return { refused: "unknown" };
  if (locked.source === "code") return { refused: "code" };
  if (!isWanted(locked.version, options)) return { refused: "version", version: locked.version };
  if (!locked.same) {
    await changeInTime(tx, [spec.id], async () => {
      await withdraw(tx, [spec.id], () => spec);
      await execute(tx, writeSchedules, [[spec.id], [text]]);
    });
  }
  return stored(tx, spec.id);
}

async function pause(tx: Tx, id: string, wanted: NewPause | null): Promise<ScheduleRow | ScheduleRefusal> {
  const [locked] = await execute(tx, lockSchedule, [id, null]);
  if (locked === undefined) return { refused: "unknown" };
  await changeInTime(tx, [id], () => execute(tx, setPause, [id, ...pauseValues(wanted)]));
  return stored(tx, id);
}

async function remove(
  tx: Tx,
  id: string,
  options: ScheduleChangeOptions & { readonly ofCode?: boolean } = {},
): ReturnType<ScheduleControlStore["deleteSchedule"]> {
  const [locked] = await execute(tx, lockSchedule, [id, null]);
  if (locked === undefined) return { refused: "unknown" };
  if (locked.source === "code" && options.ofCode !== true) return { refused: "code" };
  if (!isWanted(locked.version, options)) return { refused: "version", version: locked.version };
  return changeInTime(tx, [id], async () => {
    await withdraw(tx, [id], () => null);
    await execute(tx, removeSchedules, [[id]]);
    const [count] = await execute(tx, countRemoved, [id, insightLimits.countedRowsMax]);
    return { waiting: count?.jobs ?? 0 };
  });
}

const isWanted = (version: number, { ifVersions }: ScheduleChangeOptions = {}): boolean =>
  ifVersions === undefined || ifVersions.includes(version);

async function stored(tx: Tx, id: string): Promise<ScheduleRow | ScheduleRefusal> {
  const [row] = await execute(tx, readSchedule, [id]);
  return row ?? { refused: "unknown" };
}

async function backfill(
  tx: Tx,
  id: string,
  times: readonly BackfillTime[],
  { paceMs, slotKey }: { readonly paceMs: number; readonly slotKey: string },
): Promise<Backfilled | ScheduleRefusal> {
  const [locked] = await execute(tx, lockSchedule, [id, null]);
  if (locked === undefined) return { refused: "unknown" };
  if (locked.isCanceling) return { refused: "canceling" };
  const [row] = await execute(tx, backfillTimes, [id, ...timeColumns(times), slotKey, paceMs]);
  return row ?? { added: 0, again: 0 };
}

function timeColumns(times: readonly BackfillTime[]): unknown[][] {
  const occurrences = times.map(({ occurrence }) => occurrence);
  return [
    ...columns(occurrences, "localTime", "fold", "timezone", "nominalAt", "calendar"),
    ...columns(times, "version"),
    ...columns(occurrences, "missedCount"),
    ...columnsOfJobs(occurrences.map(({ job }) => job)),
  ];
}
