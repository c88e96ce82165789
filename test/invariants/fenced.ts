import { attemptOutcomeOf } from "../../src/machine/decide.ts";
import type { Evidence, EventFact, Violation, WorkerFact } from "./evidence.ts";

/**
 * C4: at most one completion for each job and attempt, none by an attempt that is not the newest. Judged from what the
 * workers themselves held and were answered: a row that an old attempt wrote looks like any other in the tables.
 */
export function* fencedAttempts(evidence: Evidence): Generator<Violation> {
  const ends = new Map<string, EventFact>();
  for (const event of evidence.events) {
    if (event.from !== "RUNNING") continue;
    const key = `${event.jobId}/${event.attempt}`;
    if (ends.has(key)) yield broken(`job ${event.jobId}: attempt ${event.attempt} ended twice`);
    ends.set(key, event);
  }
  const holders = new Map<string, string>();
  for (const fact of evidence.workers) {
    const key = `${fact.jobId}/${fact.attempt}`;
    if (fact.is === "claimed") {
      yield* claims(fact, holders.get(key));
      holders.set(key, fact.worker);
    } else if (fact.is === "settled" && fact.written) {
      yield* completions(fact, ends.get(key));
    }
  }
  yield* leases(evidence, ends);
  yield* blame(evidence, ends);
  yield* attemptRows(evidence, ends);
}

function* claims(fact: WorkerFact & { is: "claimed" }, other: string | undefined): Generator<Violation> {
  const what = `job ${fact.jobId}: ${fact.worker} claimed attempt ${fact.attempt}`;
  if (other !== undefined && other !== fact.worker) yield broken(`${what}, which ${other} holds`);
  if (fact.askedGeneration !== fact.generation)
    yield broken(`${what} with a message of generation ${fact.askedGeneration}, the row has ${fact.generation}`);
  if (fact.at < fact.dueAt) yield broken(`${what} ${fact.dueAt - fact.at} ms before it was due`);
}

function* completions(fact: WorkerFact & { is: "settled" }, end: EventFact | undefined): Generator<Violation> {
  const what = `job ${fact.jobId}: ${fact.worker} was answered that its attempt ${fact.attempt} is ${fact.to}`;
  if (end === undefined) yield broken(`${what}, and no event says so`);
  else if (end.worker !== fact.worker || end.to !== fact.to)
    yield broken(`${what}; the event says ${end.to} by ${end.worker}`);
}

/** A batch that died charges its members nothing: only who ran alone may be blamed. */
function* blame(evidence: Evidence, ends: ReadonlyMap<string, EventFact>): Generator<Violation> {
  for (const fact of evidence.workers) {
    if (fact.is !== "claimed" || fact.batch === 1) continue;
    const end = ends.get(`${fact.jobId}/${fact.attempt}`);
    if (end?.reason === "lost" && end.to !== "QUEUED")
      yield broken(`job ${fact.jobId} ran in a batch of ${fact.batch} and was charged for its death: ${end.to}`);
  }
}

/** No process takes a job from a worker within a lease it was granted. */
function* leases(evidence: Evidence, ends: ReadonlyMap<string, EventFact>): Generator<Violation> {
  for (const fact of evidence.workers) {
    if (fact.is === "settled") continue;
    const end = ends.get(`${fact.jobId}/${fact.attempt}`);
    if (end === undefined || !isRescue(end) || end.at >= fact.at + fact.leaseMs) continue;
    const leftMs = fact.at + fact.leaseMs - end.at;
    yield broken(`job ${fact.jobId}: taken from ${fact.worker} ${leftMs} ms before the lease it was granted ended`);
  }
}

const isRescue = (end: EventFact): boolean => end.reason === "lost" || end.reason === "interrupted";

/** Each end of a try has its attempt row, and each attempt row its end. */
function* attemptRows(evidence: Evidence, ends: ReadonlyMap<string, EventFact>): Generator<Violation> {
  const rows = new Map(evidence.attempts.map((row) => [`${row.jobId}/${row.attempt}`, row]));
  if (rows.size !== evidence.attempts.length) yield broken("an attempt was written twice");
  for (const [key, end] of ends) {
    const row = rows.get(key);
    const ended = attemptOutcomeOf({ ...end, errorCode: row?.errorCode ?? null });
    if (row?.outcome !== ended)
      yield broken(`job and attempt ${key} ended ${ended}; its attempt row says ${row?.outcome}`);
  }
  for (const key of rows.keys()) if (!ends.has(key)) yield broken(`attempt row ${key} has no event`);
}

const broken = (detail: string): Violation => ({ invariant: "C4", detail });
