import type { JobId } from "../../../src/machine/job.ts";
import { scheduleLimits, type ScheduleRow, type ScheduleSpec } from "../../../src/machine/schedule.ts";
import type {
  Backfilled,
  BackfillTime,
  ScheduleChangeOptions,
  ScheduleControlStore,
  ScheduleRefusal,
} from "../../../src/machine/schedule-store.ts";
import type { Looks } from "../looks.ts";
import { runLimits } from "../../../src/machine/run-limits.ts";
import { decidePrematerialized } from "./prematerialized.ts";
import { insertOne } from "./insert.ts";
import { attempts, jobView, occurrenceView } from "./read.ts";
import type { JobRow, OccurrenceRow, RunRow } from "./rows.ts";
import { runIdOf } from "./runs.ts";
import { slotsOf } from "./slots.ts";
import {
  addSchedule,
  changeSchedule,
  erasOf,
  leftByRemoval,
  removeSchedule,
  scheduleRow,
  storedSchedule,
} from "./schedules.ts";
import { occurrenceKey, type Tables } from "./tables.ts";
import type { NewPause } from "../../../src/machine/pause.ts";

type Run = <T>(statement: () => T) => T;

export function scheduleControl(
  t: Tables,
  run: Run,
): Omit<ScheduleControlStore, "endRemovals" | "cancelRemoved"> & Pick<Looks, "occurrencesAt" | "slotHolder"> {
  return {
    scheduleFacts: async (id) => facts(t, id),
    createSchedule: async (spec) => run(() => create(t, spec)),
    updateSchedule: async (spec, options) => run(() => update(t, spec, options)),
    pauseSchedule: async (id, wanted) => run(() => pause(t, id, wanted)),
    deleteSchedule: async (id, options) => run(() => remove(t, id, options)),
    removedJobs: async (limit) => Math.min(limit, leftByRemoval(t).length),
    occurrencesAt: async (id, { localTimes, instants }) =>
      rowsOf(t, id)
        .filter((row) => localTimes.includes(row.localTime) || instants.includes(row.nominalAt))
        .slice(0, scheduleLimits.answersMax)
        .map(occurrenceView),
    occurrencesBetween: async (id, from, until, limit) =>
      rowsOf(t, id)
        .filter((row) => row.nominalAt >= from && row.nominalAt <= until)
        .slice(0, limit)
        .map(occurrenceView),
    backfill: async (id, times, options) => run(() => backfill(t, id, times, options)),
    slotHolder: async (jobId, options) => slotHolder(t, jobId, options),
  };
}

const rowsOf = (t: Tables, id: string): OccurrenceRow[] =>
  [...t.occurrences.values()]
    .filter((row) => row.scheduleId === id)
    .toSorted((a, b) => a.nominalAt - b.nominalAt || (a.localTime < b.localTime ? -1 : 1));

function facts(t: Tables, id: string) {
  const eras = erasOf(t, id).slice(-scheduleLimits.scheduleVersionsMax);
  const row = storedSchedule(t, id);
  if (eras.length === 0) return null;
  return {
    now: t.now(),
    row: row === undefined ? null : scheduleRow(t, row),
    ledgerFrom: row === undefined ? null : (row.ledgerFrom ?? t.now()),
    versions: eras.map(({ version, spec, fromAt }) => ({ version, spec, fromAt })),
  };
}

function create(t: Tables, spec: ScheduleSpec): ScheduleRow | ScheduleRefusal {
  if (storedSchedule(t, spec.id) !== undefined) return { refused: "exists" };
  addSchedule(t, spec, "api");
  return scheduleRow(t, t.schedules.row(spec.id));
}

function update(t: Tables, spec: ScheduleSpec, options?: ScheduleChangeOptions): ScheduleRow | ScheduleRefusal {
  const stored = storedSchedule(t, spec.id);
  if (stored === undefined) return { refused: "unknown" };
  if (stored.source !== "api") return { refused: "code" };
  if (!isWanted(stored.version, options)) return { refused: "version", version: stored.version };
  changeSchedule(t, stored, spec);
  return scheduleRow(t, t.schedules.row(spec.id));
}

function pause(t: Tables, id: string, wanted: NewPause | null): ScheduleRow | ScheduleRefusal {
  const stored = storedSchedule(t, id);
  if (stored === undefined) return { refused: "unknown" };
  decidePrematerialized(t, runLimits.prematerializedRunsMax, id);
  const same = stored.pause?.until === wanted?.until && stored.pause?.reason === wanted?.reason;
  if (!same) t.schedules.set(id, { ...stored, pause: wanted === null ? null : { ...wanted, at: t.now() } });
  return scheduleRow(t, t.schedules.row(id));
}

const isWanted = (version: number, { ifVersions }: ScheduleChangeOptions = {}): boolean =>
  ifVersions?.includes(version) ?? true;

function remove(
  t: Tables,
  id: string,
  options: ScheduleChangeOptions & { readonly ofCode?: boolean } = {},
): { waiting: number } | ScheduleRefusal {
  const stored = storedSchedule(t, id);
  if (stored === undefined) return { refused: "unknown" };
  if (stored.source !== "api" && options.ofCode !== true) return { refused: "code" };
  if (!isWanted(stored.version, options)) return { refused: "version", version: stored.version };
  removeSchedule(t, stored);
  return { waiting: leftByRemoval(t, id).length };
}

function backfill(
  t: Tables,
  id: string,
  times: readonly BackfillTime[],
  { paceMs, slotKey }: { paceMs: number; slotKey: string },
): Backfilled | ScheduleRefusal {
  const stored = storedSchedule(t, id);
  if (stored === undefined) return { refused: "unknown" };
  if (stored.canceledBelow !== undefined) return { refused: "canceling" };
  const waiting = t
    .inStates("PENDING", "QUEUED")
    .filter((row) => row.scheduleId === id && row.slotKeys.includes(slotKey));
  let dueAt = Math.max(t.now(), ...waiting.map((row) => row.dueAt));
  const done = { added: 0, again: 0 };
  for (const time of times) {
    const became = backfillOne(t, id, time, dueAt + paceMs);
    if (became === null) continue;
    dueAt += paceMs;
    done[became] += 1;
  }
  return done;
}

/** @returns null when the time is left alone. */
function backfillOne(
  t: Tables,
  scheduleId: string,
  { occurrence, version }: BackfillTime,
  dueAt: number,
): "added" | "again" | null {
  const { localTime, fold, timezone, nominalAt, job, missedCount } = occurrence;
  if (job === null) throw new Error("a time of a backfill has a job");
  const known = t.occurrences.get(occurrenceKey({ scheduleId, localTime, fold, timezone }));
  if (known !== undefined && known.outcome !== "SKIPPED" && known.outcome !== "COALESCED") return null;
  if (sharesInstant(t, scheduleId, { localTime, fold, timezone, nominalAt })) return null;
  const kept = known?.jobId == null ? undefined : t.jobs.get(known.jobId);
  if (kept !== undefined && !(isEnded(kept) && known?.outcome === "SKIPPED")) return null;
  const jobId = kept === undefined ? insertNew() : useAgain(t, kept, dueAt, job.slotKeys);
  t.putOccurrence({
    scheduleId,
    localTime,
    fold,
    timezone,
    nominalAt,
    effectiveAt: null,
    version,
    jobId,
    outcome: "PLANNED",
    reason: null,
    calendar: occurrence.calendar ?? null,
    catchUp: true,
    decidedAt: null,
    latenessMs: null,
  });
  return known === undefined ? "added" : "again";

  function insertNew(): number {
    const never = { dispatchWindowMs: Number.NEGATIVE_INFINITY };
    const from = {
      scheduleId,
      scheduledFor: nominalAt,
      effectiveAt: null,
      catchUp: true,
      missed: missedCount,
      ...never,
    };
    const planned = { ...occurrence.job, dueAt, delayMs: 0 } as NonNullable<typeof job>;
    return Number(insertOne(t, planned, [], from, "backfill").id);
  }
}

const isEnded = (row: JobRow): boolean =>
  row.attempt === 0 && (row.state === "FAILED" || row.state === "CANCELED" || row.state === "SKIPPED");

function sharesInstant(
  t: Tables,
  id: string,
  time: Pick<OccurrenceRow, "localTime" | "fold" | "timezone" | "nominalAt">,
): boolean {
  return rowsOf(t, id).some(
    (row) =>
      row.nominalAt === time.nominalAt &&
      row.outcome !== "COALESCED" &&
      row.reason !== "dst-gap" &&
      row.reason !== "excluded" &&
      (row.localTime !== time.localTime || row.fold !== time.fold || row.timezone !== time.timezone),
  );
}

function useAgain(t: Tables, row: JobRow, dueAt: number, slotKeys: readonly string[]): number {
  const counters = { failures: 0, interruptions: 0, deadLetters: 0, alone: false };
  const again = { state: "PENDING", generation: row.generation + 1, dueAt, expiresAt: null } as const;
  const error = { errorCode: null, errorMessage: null };
  t.move(row, { ...again, ...counters, ...error, catchUp: true, slotKeys }, { reason: "backfill" });
  return row.id;
}

function slotHolder(t: Tables, jobId: JobId, { at, prefix }: { at: number; prefix: string }) {
  const mine = t.jobs.row(Number(jobId));
  const keys = mine.slotKeys.filter((key) => key.startsWith(prefix));
  const has = prefix !== "" || mine.heldOn === null ? [] : slotsOf(t, mine.heldOn).map((slot) => slot.jobId);
  const holders = [...t.jobs.values()]
    .filter((row) => row.id !== mine.id && row.slotKeys.some((key) => keys.includes(key)))
    .map((row) => ({ row, run: openRunOf(t, row, at) }))
    .filter(({ row, run }) => run !== undefined || hadATry(t, row, at) || has.includes(row.id));
  const holder = holders.findLast(({ row }) => has.includes(row.id)) ?? holders.at(-1);
  if (holder === undefined) return null;
  const { id, kind, scheduleId, scheduledFor } = jobView(t, holder.row);
  const runId = holder.run === undefined ? null : runIdOf(holder.run.id);
  const canceledAt = holder.row.state === "CANCELED" ? holder.row.finishedAt : null;
  return { id, kind, scheduleId, scheduledFor, runId, canceledAt };
}

/** The run that a job had started, when the job had ended and the run had not. */
function openRunOf(t: Tables, row: JobRow, at: number): RunRow | undefined {
  if (row.finishedAt === null || row.finishedAt >= at) return undefined;
  return [...t.runs.values()].find(
    (run) => run.starterId === row.id && run.createdAt <= at && (run.finishedAt === null || run.finishedAt >= at),
  );
}

function hadATry(t: Tables, row: JobRow, at: number): boolean {
  if (row.state === "RUNNING" && (row.startedAt ?? at) <= at) return true;
  return attempts(t).some((each) => each.jobId === row.id && each.startedAt <= at && each.endedAt >= at);
}
