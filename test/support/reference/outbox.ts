import type { JobId } from "../../../src/machine/job.ts";
import { deliveryLimits } from "../../../src/machine/delivery-limits.ts";
import type { OutboxBatch } from "../../../src/machine/outbox.ts";
import type { QueueObservation } from "../../../src/machine/store.ts";
import type { JobRow } from "./rows.ts";
import { waitsAgain } from "./turns.ts";
import type { Tables } from "./tables.ts";

export const byDue = (a: JobRow, b: JobRow): number => a.dueAt - b.dueAt || a.id - b.id;

export function relay(t: Tables, options: { limit: number; lane?: string | undefined }): OutboxBatch[] {
  const until = t.now() + t.dispatchWindowMs;
  const due = t
    .inStates("PENDING", "RETRY_WAIT")
    .filter((row) => !row.blocked && row.hold === "none" && row.dueAt <= until && inLane(row, options.lane))
    .toSorted(byDue)
    .slice(0, options.limit);
  return t.dispatch(due.map((row) => t.queue(row)));
}

export function confirm(t: Tables, sent: readonly { id: string; failed: readonly JobId[] }[]): void {
  for (const { id, failed } of sent) {
    const batch = t.outbox.get(Number(id));
    if (batch === undefined) continue;
    const members = batch.members.filter((member) => failed.includes(String(member.id) as JobId));
    if (members.length === 0) t.outbox.delete(batch.id);
    else t.outbox.set(batch.id, { ...batch, members });
  }
}

/** Batches that are still the caller's stay open for longer; of all only what is unsent is kept. */
export function keep(
  t: Tables,
  batches: readonly { id: string; resent: number; unsent: readonly JobId[] }[],
): ReadonlySet<string> {
  const own = batches.filter(({ id, resent }) => t.outbox.get(Number(id))?.resent === resent).map(({ id }) => id);
  confirm(
    t,
    batches.map(({ id, unsent }) => ({ id, failed: unsent })),
  );
  for (const id of own) {
    const batch = t.outbox.get(Number(id));
    if (batch !== undefined) t.outbox.set(batch.id, { ...batch, at: t.now() });
  }
  return new Set(own);
}

/** Open outbox batches that are old enough, oldest first, with what still waits under that generation. */
export function reopen(
  t: Tables,
  options: { olderThanMs: number; limit: number; messagesMax: number; lane?: string | undefined },
): OutboxBatch[] {
  const before = t.now() - options.olderThanMs;
  const oldest = [...t.outbox.values()]
    .filter((batch) => batch.at <= before && inLane(batch, options.lane))
    .toSorted((a, b) => a.at - b.at || a.id - b.id)
    .slice(0, options.limit);
  let messages = 0;
  const taken = oldest.flatMap((batch) => {
    if (messages >= options.messagesMax) return [];
    messages += batch.members.length;
    const waiting = batch.members.flatMap(({ id, generation }) => {
      const row = t.jobs.get(id);
      return row !== undefined && row.state === "QUEUED" && row.generation === generation ? [row] : [];
    });
    const next = { ...batch, at: t.now(), resent: batch.resent + 1 };
    if (waiting.length === 0) t.outbox.delete(batch.id);
    else t.outbox.set(batch.id, next);
    const byId = waiting.toSorted((a, b) => a.id - b.id);
    return waiting.length === 0 ? [] : [t.batchOf(next, byId)];
  });
  return taken.toSorted((a, b) => Number(a.id) - Number(b.id));
}

/** QUEUED rows whose message is presumed lost wait again; the relay sends them under the new generation. */
export function requeueLost(
  t: Tables,
  options: { lane: string; evidence: "queue-empty" | "overtaken"; olderThanMs: number; limit: number },
): number {
  const old = t.now() - options.olderThanMs;
  const open = [...t.outbox.values()].filter(({ lane }) => lane === options.lane);
  if (open.length > deliveryLimits.batchesReadMax) return 0;
  const unsent = new Set(open.flatMap(({ members }) => members.map(({ id, generation }) => `${id}/${generation}`)));
  const before = options.evidence === "queue-empty" ? old : Math.min(old, overtakenBefore(t, options.lane));
  const lost = t
    .inStates("QUEUED")
    .filter((row) => row.lane === options.lane && outSince(row) <= before)
    .filter(({ id, generation }) => !unsent.has(`${id}/${generation}`))
    .toSorted((a, b) => (a.handedAt ?? 0) - (b.handedAt ?? 0) || a.id - b.id)
    .slice(0, options.limit);
  for (const row of lost) {
    t.move(row, { ...waitsAgain(row), state: "PENDING", generation: row.generation + 1 }, { reason: "message-lost" });
  }
  return lost.length;
}

export const queueObservations = (t: Tables, maxAgeMs: number): readonly QueueObservation[] =>
  [...t.queueObservations.entries()]
    .filter(([, { seenAt }]) => seenAt > t.now() - maxAgeMs)
    .map(([lane, { emptySince }]) => ({ lane, emptyMs: t.now() - emptySince }));

export function saveQueueObservations(t: Tables, seen: readonly QueueObservation[]): void {
  for (const { lane, emptyMs } of seen)
    t.queueObservations.set(lane, { emptySince: t.now() - emptyMs, seenAt: t.now() });
}

export const countNotYetDue = (t: Tables, options: { lane: string; sinceMs: number; limit: number }): number =>
  t
    .inStates("QUEUED")
    .filter((row) => row.lane === options.lane && row.dueAt > t.now() - options.sinceMs)
    .filter((row) => row.dueAt < t.now() + deliveryLimits.queueDelayMsMax)
    .slice(0, options.limit).length;

/** Since when a message could have been claimed. */
const outSince = (row: JobRow): number => Math.max(row.handedAt ?? 0, row.dueAt);

/** Two minutes before the 5th percentile of the newest claims of the lane. */
function overtakenBefore(t: Tables, lane: string): number {
  const claimed = [...t.jobs.values()]
    .filter((row) => row.lane === lane && row.startedAt !== null && row.startedAt >= outSince(row))
    .toSorted((a, b) => (b.startedAt ?? 0) - (a.startedAt ?? 0))
    .slice(0, deliveryLimits.overtakenSampleMax)
    .map(outSince)
    .toSorted((a, b) => a - b);
  const fifth = claimed[Math.max(0, Math.ceil(claimed.length / 20) - 1)];
  return fifth === undefined ? -Infinity : fifth - deliveryLimits.overtakenMs;
}
const inLane = (row: { readonly lane: string }, lane: string | undefined): boolean =>
  lane === undefined || row.lane === lane;
