import type { JobId, RunId } from "../../core/job/job.ts";
import {
  formatCursor,
  parseCursor,
  shortSnapshot,
  snapshotEnd,
  snapshotOpen,
  type StreamCursor,
  type StreamEvent,
  type StreamPlace,
} from "../../core/ports/event-stream.ts";
import type { Operations } from "../../core/ports/operations.ts";
import type { State } from "../../core/job/state.ts";
import { currentEpoch } from "./epoch.ts";
import { byId } from "./newest.ts";
import type { Session } from "./session.ts";
import type { Epoch } from "./sql/epoch.ts";
import { readStream, readStreamEnd, type StreamRow } from "./sql/stream.ts";

/**
 * The events as they become visible. A cursor is a snapshot of Postgres: events that it does not see and the present one does
 * are new. So a transaction that commits late is not missed, and one that stays open delays nothing.
 */
export function streamStore(session: Session): Pick<Operations, "stream"> {
  return {
    async stream(cursor, limit) {
      const epoch = await currentEpoch(session);
      const [end] = await session.run(readStreamEnd);
      if (end === undefined) throw new Error("the database gave no snapshot");
      const upto = shortSnapshot(end.snapshot);
      const now = { epoch: epoch.name, from: upto, page: null };
      if (cursor === null) return { events: [], cursor: formatCursor(now), isMore: false, isGap: false };
      const place = parseCursor(cursor);
      if (place === null || !isOf(place, now)) {
        return { events: [], cursor: formatCursor(now), isMore: false, isGap: true };
      }
      return { ...(await readPage(session, place, { epoch, now: upto, limit })), isGap: false };
    },
  };
}

/** A cursor that lies ahead of the server is of a history that was lost, whatever its epoch says. */
const isOf = (place: StreamPlace, now: StreamPlace): boolean =>
  place.epoch === now.epoch && BigInt(snapshotEnd(place.page?.upto ?? place.from)) <= BigInt(snapshotEnd(now.from));

async function readPage(
  session: Session,
  place: StreamPlace,
  { epoch, now, limit }: { readonly epoch: Epoch; readonly now: string; readonly limit: number },
): Promise<{ events: readonly StreamEvent[]; cursor: StreamCursor; isMore: boolean }> {
  const { from, page } = place;
  const upto = page?.upto ?? now;
  const rows = await session.run(readStream, [
    snapshotEnd(from),
    snapshotOpen(from),
    upto,
    page?.xid ?? "0",
    page?.id ?? "0",
    page?.place ?? "0",
    limit,
    epoch.first_event_id,
  ]);
  const last = rows.at(-1);
  const isMore = rows.length === limit && last !== undefined;
  const next = isMore ? { upto, xid: last.xid, id: last.id, place: String(last.place) } : null;
  const cursor = formatCursor({ epoch: epoch.name, from: isMore ? from : upto, page: next });
  // A transaction that waits for a row may have the lower number: a job's moves are in the order of their events.
  const inOrder = rows.toSorted((a, b) => byId(a.id, b.id) || a.place - b.place);
  return { events: inOrder.map((row) => streamEvent(row, epoch)), cursor, isMore };
}

const streamEvent = (row: StreamRow, epoch: Epoch): StreamEvent => ({
  id: eventId(row, epoch),
  jobId: row.job_id as JobId,
  at: row.at,
  from: row.from_state as State | null,
  to: row.to_state as State,
  attempt: row.attempt,
  generation: row.generation,
  worker: row.worker,
  reason: row.reason,
  kind: row.kind,
  key: row.key,
  lane: row.lane,
  runId: row.run_id as RunId | null,
});

/** One row has the moves of many jobs: the id of a move is its epoch, its transaction, its row and its place in the row. */
const eventId = (row: StreamRow, epoch: Epoch): string => `${epoch.name}.${row.xid}.${row.id}.${row.place}`;

/** The event rows of these moves, each with the last place among them. */
export function eventRowsOf(events: readonly StreamEvent[]): readonly { xid: string; id: string; place: number }[] {
  const rows = new Map<string, { xid: string; id: string; place: number }>();
  for (const event of events) {
    const [, xid = "", id = "", place] = event.id.split(".");
    rows.set(id, { xid, id, place: Math.max(Number(place), rows.get(id)?.place ?? 0) });
  }
  return [...rows.values()];
}
