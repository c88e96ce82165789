import type { JobId, RunId } from "../../core/job/job.ts";
import {
  formatCursor,
  parseCursor,
  shortSnapshot,
  snapshotEnd,
  snapshotOpen,
  type StreamCursor,
  type StreamEvent,
  type StreamLook,
  type StreamPlace,
} from "../../core/ports/event-stream.ts";
import type { Operations } from "../../core/ports/operations.ts";
import type { State } from "../../core/job/state.ts";
import { currentEpoch } from "./epoch.ts";
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
      const now = await look(session);
      const end = { epoch: epoch.name, from: now, page: null };
      if (cursor === null) return { events: [], cursor: formatCursor(end), isMore: false, isGap: false };
      const place = parseCursor(cursor);
      if (place === null || !isOf(place, end)) {
        return { events: [], cursor: formatCursor(end), isMore: false, isGap: true };
      }
      return { ...(await readPage(session, place, { epoch, now, limit })), isGap: false };
    },
  };
}

async function look(session: Session): Promise<StreamLook> {
  const [row] = await session.run(readStreamEnd);
  if (row === undefined) throw new Error("the database gave no snapshot");
  return { snapshot: shortSnapshot(row.snapshot), next: row.next, last: row.last };
}

/** A cursor that lies ahead of the server is of a history that was lost, whatever its epoch says. */
const isOf = ({ epoch, from, page }: StreamPlace, now: StreamPlace): boolean =>
  epoch === now.epoch && BigInt(snapshotEnd((page?.upto ?? from).snapshot)) <= BigInt(snapshotEnd(now.from.snapshot));

async function readPage(
  session: Session,
  place: StreamPlace,
  { epoch, now, limit }: { readonly epoch: Epoch; readonly now: StreamLook; readonly limit: number },
): Promise<{ events: readonly StreamEvent[]; cursor: StreamCursor; isMore: boolean }> {
  const { from, page } = place;
  const upto = page?.upto ?? now;
  const rows = await session.run(readStream, [
    from.snapshot,
    snapshotOpen(from.snapshot),
    snapshotEnd(from.snapshot),
    from.next,
    from.last,
    upto.snapshot,
    page?.id ?? "0",
    page?.place ?? "0",
    limit,
    epoch.first_event_id,
  ]);
  const last = rows.at(-1);
  const isMore = rows.length === limit && last !== undefined;
  const next = isMore ? { upto, id: last.id, place: String(last.place) } : null;
  const cursor = formatCursor({ epoch: epoch.name, from: isMore ? from : upto, page: next });
  return { events: rows.map((row) => streamEvent(row, epoch)), cursor, isMore };
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
