import type { Message, MovedRows } from "../../../src/core/ports/ports.ts";
import { decideOccurrence } from "./occurrence.ts";
import { freeLeftBehind, freeSlotsOf } from "./slots.ts";
import type { JobRow } from "./rows.ts";
import { movedOf } from "./tables.ts";
import type { Tables } from "./tables.ts";

const lost = { code: "WORKER_LOST", message: "its worker stopped answering" } as const;

/** RUNNING past its lease: its worker is gone. Slots that canceled jobs left behind go too, and are told beside rows. */
export function rescue(t: Tables, options: { limit: number; interruptionsMax: number; lane?: string }): MovedRows {
  const expired = t
    .inStates("RUNNING")
    .filter((row) => row.leaseUntil !== null && row.leaseUntil < t.now())
    .filter((row) => options.lane === undefined || row.lane === options.lane)
    .toSorted((a, b) => (a.leaseUntil ?? 0) - (b.leaseUntil ?? 0) || a.id - b.id)
    .slice(0, options.limit);
  const freed: string[] = [];
  const moved = expired.map((held) => {
    const row = held.alone ? rescueAlone(t, held) : rescueFromBatch(t, held, options.interruptionsMax);
    freed.push(...freeSlotsOf(t, held));
    return row;
  });
  const left = freeLeftBehind(t, new Set(moved.map((row) => row.id)));
  return result(t, moved, moved.length > 0 ? [...freed, ...left] : []);
}

/** It ran alone, so it is to blame: a failure, and another try at once while tries are left. */
function rescueAlone(t: Tables, held: JobRow): JobRow {
  const failures = held.failures + 1;
  const columns = { failures, worker: null, errorCode: lost.code, errorMessage: lost.message };
  const isLast = failures >= held.maxAttempts;
  const why = { reason: "lost", worker: held.worker };
  t.endAttempt(held, isLast ? "FAILED" : "RETRY_WAIT", lost);
  if (isLast) return t.move(held, { ...columns, state: "FAILED" }, why);
  const waiting = t.move(held, { ...columns, state: "RETRY_WAIT", dueAt: t.now() }, why);
  return t.queue(waiting);
}

/** A neighbour may be to blame: no failure, but it runs alone next time. */
function rescueFromBatch(t: Tables, held: JobRow, interruptionsMax: number): JobRow {
  const interruptions = held.interruptions + 1;
  const columns = { interruptions, suspect: true, worker: null, errorCode: lost.code, errorMessage: lost.message };
  const isLast = interruptions >= interruptionsMax;
  t.endAttempt(held, isLast ? "FAILED" : "QUEUED", lost);
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
  const outbox = t.handOff(moved.filter((row) => row.state === "QUEUED"));
  return { rows: moved.map((row) => movedOf(t, row)), outbox, freed: [...new Set(freed)] };
}
