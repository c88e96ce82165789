import { hash } from "node:crypto";
import type { Tx } from "../../core/ports/ports.ts";
import type { ScheduleRow, ScheduleSpec } from "../../core/ports/schedule.ts";
import type {
  Backfilled,
  BackfillTime,
  ScheduleChangeOptions,
  ScheduleControlStore,
  ScheduleVersion,
  ScheduleRefusal,
} from "../../core/ports/schedule-store.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import { scheduleLimits } from "../../core/ports/schedule-limits.ts";
import { moveRows } from "./moved.ts";
import { occurrenceView, policyOf, scheduleRow, withdraw } from "./schedule-store.ts";
import type { Session } from "./session.ts";
import { backfillTimes } from "./sql/backfill.ts";
import { cancelRemoved, countRemoved, endRemovals } from "./sql/control.ts";
import { removeSchedules, writeSchedules } from "./sql/schedule.ts";
import {
  findHolder,
  insertSchedule,
  lockSchedule,
  readVersions,
  readOccurrencesAt,
  readOccurrencesBetween,
  readSchedule,
  setPause,
} from "./sql/schedule-control.ts";
import { columns, execute } from "./statement.ts";
import { changeInTime } from "./prematerialized.ts";
import type { NewPause } from "../../core/ports/pause.ts";
import { pauseValues } from "./pause.ts";

export function scheduleControlStore(session: Session): ScheduleControlStore {
  return {
    scheduleFacts: (id) => session.transaction((tx) => facts(tx, id)),
    createSchedule: (spec) => session.transaction((tx) => create(tx, spec)),
    updateSchedule: (spec, options) => session.transaction((tx) => update(tx, spec, options)),
    pauseSchedule: (id, wanted) => session.transaction((tx) => pause(tx, id, wanted)),
    deleteSchedule: (id, options) => session.transaction((tx) => remove(tx, id, options)),
    async endRemovals({ fence } = {}) {
      return (await session.fenced(fence, endRemovals, [operationsLimits.removalsMax]))[0]?.left ?? 0;
    },
    cancelRemoved: ({ limit, ...options }) => moveRows(session, cancelRemoved, [limit], options),
    async removedJobs(limit) {
      return (await session.run(countRemoved, [null, limit]))[0]?.jobs ?? 0;
    },
    async occurrencesAt(id, { localTimes, instants }) {
      return (await session.run(readOccurrencesAt, [id, localTimes, instants, scheduleLimits.answersMax])).map(
        occurrenceView,
      );
    },
    async occurrencesBetween(id, from, until, limit) {
      return (await session.run(readOccurrencesBetween, [id, from, until, limit])).map(occurrenceView);
    },
    backfill: (id, times, options) => session.transaction((tx) => backfill(tx, id, times, options)),
    async slotHolder(jobId, { at, prefix }) {
      const { holderLookBackMax, holderLookAheadMax, holderTimesMax } = scheduleLimits;
      const bounds = [holderLookBackMax, holderLookAheadMax, holderTimesMax];
      const [row] = await session.run(findHolder, [jobId, prefix, at, ...bounds]);
      if (row === undefined) return null;
      const { holding_run: runId, ...job } = row;
      return { job, runId };
    },
  };
}

async function facts(tx: Tx, id: string): ReturnType<ScheduleControlStore["scheduleFacts"]> {
  const rows = await execute(tx, readVersions, [id, scheduleLimits.scheduleVersionsMax]);
  const [first] = rows;
  if (first === undefined) return null;
  const [stored] = await execute(tx, readSchedule, [id]);
  const versions = rows.map((row): ScheduleVersion => {
    return { version: row.version ?? 0, spec: row.spec as ScheduleSpec | null, fromAt: row.from_at };
  });
  return {
    now: first.now,
    row: stored === undefined ? null : scheduleRow(stored),
    ledgerFrom: first.ledger_from,
    versions,
  };
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
    const [count] = await execute(tx, countRemoved, [id, operationsLimits.countedRowsMax]);
    return { waiting: count?.jobs ?? 0 };
  });
}

const isWanted = (version: number, { ifVersions }: ScheduleChangeOptions = {}): boolean =>
  ifVersions === undefined || ifVersions.includes(version);

async function stored(tx: Tx, id: string): Promise<ScheduleRow | ScheduleRefusal> {
  const [row] = await execute(tx, readSchedule, [id]);
  return row === undefined ? { refused: "unknown" } : scheduleRow(row);
}

async function backfill(
  tx: Tx,
  id: string,
  times: readonly BackfillTime[],
  { paceMs, slotKey }: { readonly paceMs: number; readonly slotKey: string },
): Promise<Backfilled | ScheduleRefusal> {
  const [locked] = await execute(tx, lockSchedule, [id, null]);
  if (locked === undefined) return { refused: "unknown" };
  if (locked.is_canceling) return { refused: "canceling" };
  const [row] = await execute(tx, backfillTimes, [id, ...timeColumns(times), slotKey, paceMs]);
  return row ?? { added: 0, again: 0 };
}

const timeColumns = (times: readonly BackfillTime[]): unknown[][] =>
  columns(
    times,
    ({ occurrence }) => occurrence.localTime,
    ({ occurrence }) => occurrence.fold,
    ({ occurrence }) => occurrence.timezone,
    ({ occurrence }) => occurrence.nominalAt,
    ({ version }) => version,
    ({ occurrence }) => occurrence.missedCount,
    ({ occurrence: { job } }) => job?.kind ?? null,
    ({ occurrence: { job } }) => (job === null ? null : JSON.stringify(job.payload)),
    ({ occurrence: { job } }) => (job === null ? null : hash("sha256", job.canonicalInput, "hex")),
    ({ occurrence: { job } }) => job?.lane ?? null,
    ({ occurrence: { job } }) => (job === null ? null : JSON.stringify(policyOf(job))),
  );
