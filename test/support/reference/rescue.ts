import { type LapsedLease, type Store } from "../../../src/machine/store.ts";
import { type Message, noAftermath } from "../../../src/machine/outbox.ts";
import { type MovedRows } from "../../../src/machine/transaction.ts";
import { isFinal } from "../../../src/machine/state.ts";
import { membersOf } from "./claim.ts";
import { decideOccurrence } from "./occurrence.ts";
import { freeLeftBehind, freeSlotsOf, keepSlotsOf } from "./slots.ts";
import type { JobRow, LeaseRow } from "./rows.ts";
import { runsOf } from "./runs.ts";
import { movedOf, type Tables } from "./tables.ts";

const lostBy = ({ cause, alone }: LeaseRow) => ({
  errorCode: "WORKER_LOST",
  errorMessage:
    cause === null
      ? "its lease ended without an outcome"
      : `${alone ? "" : "it or another job of its batch: "}${cause}`,
});

export function endLeases(t: Tables, worker: string, cause: string): void {
  for (const lease of heldBy(t, worker)) t.leases.set(lease.id, { ...lease, until: 0, cause });
}

export function noteCause(t: Tables, worker: string, cause: string): void {
  for (const lease of heldBy(t, worker)) t.leases.set(lease.id, { ...lease, cause });
}

export function keepLeases(t: Tables, worker: string): void {
  for (const lease of heldBy(t, worker)) t.leases.set(lease.id, { ...lease, until: t.now() + lease.leaseMs });
}

const heldBy = (t: Tables, worker: string) =>
  [...t.leases.values()].filter((lease) => lease.worker.startsWith(worker) && lease.until > 0);

export function lapsedLeases(t: Tables, options: { limit: number; lane?: string | undefined }): readonly LapsedLease[] {
  return expiredOf(t, options.lane)
    .slice(0, options.limit)
    .map(({ id, until, leaseMs: ms }) => ({ id: String(id), until, ms }));
}

const expiredOf = (t: Tables, lane: string | undefined) =>
  [...t.leases.values()]
    .filter((lease) => lease.until < t.now() && (lane === undefined || lease.lane === lane))
    .toSorted((a, b) => a.until - b.until || a.id - b.id);

/** RUNNING past its lease: its worker is gone. Slots that canceled jobs left behind go too, and are shown beside rows. */
export function rescue(t: Tables, options: Omit<Parameters<Store["rescue"]>[0], "inSameTransaction">): MovedRows {
  const expired = expiredOf(t, options.lane)
    .filter((lease) => options.leases?.includes(String(lease.id)) !== false)
    .flatMap((lease) => membersOf(t, lease.id).map((held) => ({ held, lease })))
    .slice(0, options.limit);
  const freed: string[] = [];
  const moved = expired.map(({ held, lease }) => {
    const row = lease.alone ? rescueAlone(t, held, lease) : rescueFromBatch(t, held, lease, options.interruptionsMax);
    if (row.state === "QUEUED") keepSlotsOf(t, held, row);
    else freed.push(...freeSlotsOf(t, held));
    return row;
  });
  const left = freeLeftBehind(t, new Set(moved.map((row) => row.id)));
  return result(t, moved, moved.length > 0 ? [...freed, ...left] : []);
}

/** It ran alone, so it is to blame: a failure, and another try at once while tries are left. */
function rescueAlone(t: Tables, held: JobRow, lease: LeaseRow): JobRow {
  const failures = held.failures + 1;
  const columns = { failures, ...lostBy(lease) };
  const isLast = failures >= held.maxAttempts;
  const why = { reason: "lost", worker: held.worker };
  if (isLast) return t.move(held, { ...columns, state: "FAILED" }, why);
  const waiting = t.move(held, { ...columns, state: "RETRY_WAIT", dueAt: t.now() }, why);
  return t.queue(waiting);
}

/** A neighbour may be to blame: no failure, but it runs alone next time. */
function rescueFromBatch(t: Tables, held: JobRow, lease: LeaseRow, interruptionsMax: number): JobRow {
  const interruptions = held.interruptions + 1;
  const columns = { interruptions, alone: true, ...lostBy(lease) };
  const isLast = interruptions >= interruptionsMax;
  if (isLast) return t.move(held, { ...columns, state: "FAILED" }, { reason: "interrupted", worker: held.worker });
  return t.queue(held, { ...columns, dueAt: t.now() }, { reason: "lost", worker: held.worker });
}

/** A message died unclaimed: the row decides. */
export function undelivered(
  t: Tables,
  messages: readonly Message[],
  options: { undeliveredMax: number; backoffMs: number },
): MovedRows {
  const moved = messages
    .toSorted((a, b) => Number(a.jobId) - Number(b.jobId))
    .flatMap(({ jobId, generation }) => {
      const row = t.jobs.get(Number(jobId));
      return row?.state === "QUEUED" && row.generation === generation ? [returnUndelivered(t, row, options)] : [];
    });
  return result(t, moved, []);
}

function returnUndelivered(t: Tables, row: JobRow, options: { undeliveredMax: number; backoffMs: number }): JobRow {
  const deadLetters = row.deadLetters + 1;
  if (deadLetters >= options.undeliveredMax) {
    const error = { errorCode: "UNDELIVERABLE", errorMessage: `${deadLetters} messages died unclaimed` };
    const failed = t.move(row, { state: "FAILED", deadLetters, ...error }, { reason: "undeliverable" });
    decideOccurrence(t, failed, "SKIPPED", "undeliverable");
    return failed;
  }
  const waits = { deadLetters, dueAt: t.now() + options.backoffMs, generation: row.generation + 1 };
  return t.move(row, { state: "PENDING", ...waits }, { reason: "undelivered" });
}

function result(t: Tables, moved: readonly JobRow[], freed: readonly string[]): MovedRows {
  const outbox = t.dispatch(moved.filter((row) => row.state === "QUEUED"));
  const runs = runsOf(moved.filter((row) => isFinal(row.state)));
  return {
    rows: moved.map((row) => movedOf(t, row)),
    aftermath: { ...noAftermath, outbox, freed: [...new Set(freed)], runs },
  };
}
