import { isDeepStrictEqual } from "node:util";
import type { Instant, JobId } from "../../../src/machine/job.ts";
import { kindName, kindOf } from "../../../src/machine/closable-texts.ts";
import type { LaneBlackouts } from "../../../src/machine/lane-store.ts";
import { type Aftermath, type Message, noAftermath } from "../../../src/machine/outbox.ts";
import { type NewPause, pauseAt } from "../../../src/machine/pause.ts";
import { type Reason, reasons } from "../../../src/machine/reasons.ts";
import type { Actor } from "../../../src/machine/transaction.ts";
import { runAgain, waitsAgain } from "./turns.ts";
import type { JobRow } from "./rows.ts";
import { idOf, type Tables } from "./tables.ts";

interface Moves {
  readonly ids: readonly JobId[];
  readonly aftermath: Aftermath;
}

export function pauseLane(t: Tables, lane: string, pause: NewPause | null): void {
  const { windows = [], openedUntil: opened = 0 } = t.lanes.get(lane) ?? {};
  const within = windows.filter(({ from, until }) => from <= t.now() && until > t.now());
  const openedUntil = pause === null ? Math.max(0, ...within.map(({ until }) => until)) : opened;
  t.lanes.set(lane, { pause: pause === null ? null : { ...pause, at: t.now() }, windows, openedUntil });
}

export function installBlackouts(t: Tables, lanes: readonly LaneBlackouts[]): number {
  const changed = lanes.filter(({ lane, windows }) => !isDeepStrictEqual(windows, t.lanes.get(lane)?.windows ?? []));
  for (const { lane, windows } of changed)
    t.lanes.set(lane, { pause: null, openedUntil: 0, ...t.lanes.get(lane), windows });
  return changed.length;
}

/** The reason of the gate that closes it, or null. */
function closedBy(t: Tables, lane: string): Reason | null {
  const now = t.now();
  const row = t.lanes.get(lane);
  if (pauseAt(row ?? null, now) !== null) return reasons.lanePaused;
  const isIn = row?.windows.some(({ from, until }) => from <= now && until > now) === true && row.openedUntil <= now;
  return isIn ? reasons.blackout : null;
}

export const isClosed = (t: Tables, lane: string): boolean => closedBy(t, lane) !== null;

export const closedNames = (t: Tables, lane: string): readonly string[] =>
  [...t.lanes.entries()]
    .map(([name]) => name)
    .filter((name) => (name === lane || kindOf(name) !== null) && isClosed(t, name))
    .toSorted();

export function holdClosed(t: Tables, messages: readonly Message[]): readonly JobId[] {
  const generations = new Set(messages.map(({ jobId, generation }) => `${jobId}/${generation}`));
  return rowsOf(
    t,
    messages.map(({ jobId }) => jobId),
  )
    .filter(({ id, state, generation }) => state === "QUEUED" && generations.has(`${id}/${generation}`))
    .flatMap((row) => {
      const closedName = [row.lane, kindName(row.kind)].find((name) => isClosed(t, name));
      if (closedName === undefined) return [];
      const held = {
        state: "PENDING",
        hold: "paused",
        closedName,
        generation: row.generation + 1,
        handedAt: null,
      } as const;
      return [idOf(t.move(row, held, { reason: closedBy(t, closedName) }))];
    });
}

export function unhold(t: Tables, lanes: readonly string[], limit: number): number {
  const rows = lanes.flatMap((lane) =>
    t
      .inStates("PENDING", "RETRY_WAIT")
      .filter((row) => row.hold === "paused" && row.circuit === undefined && row.closedName === lane)
      .toSorted((a, b) => a.dueAt - b.dueAt || a.id - b.id),
  );
  const released = rows.slice(0, limit);
  for (const row of released) t.change(row, waitsAgain(row));
  return released.length;
}

export function unholdOpen(t: Tables, limit: number): number {
  const open = [...t.lanes.entries()].map(([lane]) => lane).filter((lane) => !isClosed(t, lane));
  return unhold(t, open, limit);
}

export function runNow(
  t: Tables,
  ids: readonly JobId[],
  { caller }: Actor = {},
  reason: string | null = reasons.runNow,
): Moves {
  const rows = rowsOf(t, ids);
  const moved = rows
    .filter(
      ({ state, hold, blocked }) => (state === "PENDING" || state === "RETRY_WAIT") && hold === "none" && !blocked,
    )
    .map((row) => t.queue(row, { dueAt: t.now() }, { reason, caller }));
  const sooner = rows
    .filter(({ state, dueAt }) => state === "QUEUED" && dueAt > t.now())
    .map((row) => t.change(row, { dueAt: t.now(), generation: row.generation + 1, handedAt: t.now() }));
  const outbox = [...t.dispatch(moved), ...t.dispatch(sooner)];
  return { ids: [...moved, ...sooner].map(idOf), aftermath: { ...noAftermath, outbox } };
}

export function retry(
  t: Tables,
  ids: readonly JobId[],
  { dueAt = 0, paceMs = 0, caller }: Actor & { readonly dueAt?: Instant; readonly paceMs?: number } = {},
): Moves {
  const ended = rowsOf(t, ids).filter(
    // What follows a job of a run has to be counted again: that is a resume.
    ({ state, runId }) => runId === null && (state === "FAILED" || state === "CANCELED" || state === "SKIPPED"),
  );
  const moved = ended.map((row, n) => {
    const due = Math.max(t.now(), dueAt) + n * paceMs;
    const counters = { failures: 0, interruptions: 0, deadLetters: 0, alone: false };
    const again = { dueAt: due, expiresAt: null, errorCode: null, errorMessage: null, ...counters };
    const why = { reason: "retry", caller };
    return due <= t.now() + t.dispatchWindowMs
      ? runAgain(t, row, again, why)
      : t.move(
          row,
          { ...again, ...waitsAgain(row), state: "PENDING", generation: row.generation + 1, handedAt: null },
          why,
        );
  });
  const outbox = t.dispatch(moved.filter(({ state }) => state === "QUEUED"));
  return { ids: moved.map(idOf), aftermath: { ...noAftermath, outbox } };
}

function rowsOf(t: Tables, ids: readonly JobId[]): readonly JobRow[] {
  const sorted = [...new Set(ids.map(Number))].toSorted((a, b) => a - b);
  return sorted.flatMap((id) => t.jobs.get(id) ?? []);
}
