import { z } from "zod";
import {
  formatCursor,
  parseCursor,
  shortSnapshot,
  snapshotEnd,
  snapshotOpen,
  type StreamCursor,
  streamEvent,
  type StreamLook,
  type StreamPage,
  type StreamPlace,
} from "./event-stream.ts";
import { type Database, isoText, oneRow, sqlQuery } from "./sql-query.ts";

/**
 * Where the stream is now. The highest event is committed, so no crash gives its id again; transactions from `next` on begin
 * after it. A snapshot ends behind the last transaction that has ended, so later ones may be open: their count is its end's age.
 * Locks nothing.
 */
export const readStreamEnd = sqlQuery("stream-end", {
  row: z.object({ snapshot: z.string(), next: z.string(), last: z.string() }),
})(`
select s::text as snapshot, (pg_snapshot_xmax(s)::text::bigint + age(pg_snapshot_xmax(s)::xid))::text as next,
  coalesce((select max(id) from belfry.event), 0) as last
from pg_current_snapshot() s`);

interface StreamRead {
  readonly from: StreamLook;
  readonly upto: StreamLook;
  readonly after: { readonly id: string; readonly place: string };
  readonly limit: number;
  readonly epoch: { readonly name: string; readonly first_event_id: string };
}

/**
 * Moves that one look did not see and another does, in the order of their events, which is each job's own: exactly those, even
 * with open transactions, and without reading earlier ones again. Events above the first look's last id come by id; the inner
 * limit has that index read in order, so a page costs its own rows. Those below it are of transactions that were open in the
 * look, and of those that it left out. An event without moves after the place costs one row. Rows below the epoch's first
 * event are left out: another server numbered their transactions. $1 first look: snapshot $2 transactions that were open in it
 * $3 its end $4 the first transaction it knows nothing of $5 its last event $6 second snapshot $7 after event $8 after place
 * $9 limit $10 first event of the epoch $11 its name. Locks nothing.
 */
export const readStream = sqlQuery("stream", {
  params: ({ from, upto, after, limit, epoch }: StreamRead) => [
    from.snapshot,
    snapshotOpen(from.snapshot),
    snapshotEnd(from.snapshot),
    from.next,
    from.last,
    upto.snapshot,
    after.id,
    after.place,
    limit,
    epoch.first_event_id,
    epoch.name,
  ],
  row: streamEvent,
})(`
select concat_ws('.', $11::text, e.xid, e.id, e.place) as id, ${isoText("e.at")} as at, e.job_id as job, j.run_id as run,
  j.kind, j.key, j.lane, e.from_state as "from", e.to_state as "to", e.attempt, e.generation, e.worker, e.reason
from (
  select f.id, f.xid, f.at, f.from_state, f.to_state, f.worker, f.reason, m.job_id, m.attempt, m.generation, m.place
  from (
    select * from (
      (select * from belfry.event where id >= greatest($5::bigint + 1, $7::bigint, $10::bigint)
        and not pg_visible_in_snapshot(xid, (select $1::text::pg_snapshot))
        and pg_visible_in_snapshot(xid, (select $6::text::pg_snapshot))
      order by id limit $9 + 1)
      union all
      select * from belfry.event where xid = any($2::text[]::xid8[]) and id between $7::bigint and $5::bigint
      union all
      select * from belfry.event where xid >= $3::text::xid8 and xid < $4::text::xid8 and id between $7::bigint and $5::bigint
    ) fresh
    where pg_visible_in_snapshot(xid, (select $6::text::pg_snapshot)) and id >= $10::bigint
    order by id limit $9 + 1
  ) f
  cross join lateral unnest(f.job_ids, f.attempts, f.generations) with ordinality as m (job_id, attempt, generation, place)
  where (f.id, m.place) > ($7::bigint, $8::bigint)
  order by f.id, m.place limit $9
) e left join belfry.job j on j.id = e.job_id
order by e.id, e.place`);

/**
 * At most `limit` events that became visible since the cursor; null begins now. A cursor is a snapshot of Postgres: events that
 * it does not see and the present one does are new. So a transaction that commits late is not missed, and one that stays open
 * delays nothing. An event that is read again, from an older cursor, keeps its id.
 */
export async function readEvents(insight: Database, cursor: StreamCursor | null, limit: number): Promise<StreamPage> {
  const epoch = await insight.epoch();
  const now = await look(insight);
  const end: StreamPlace = { epoch: epoch.name, from: now, page: null };
  if (cursor === null) return { events: [], cursor: formatCursor(end), isMore: false, isGap: false };
  const place = parseCursor(cursor);
  if (place === null || !isOf(place, end)) return { events: [], cursor: formatCursor(end), isMore: false, isGap: true };
  const { from, page } = place;
  const upto = page?.upto ?? now;
  const after = page ?? { id: "0", place: "0" };
  const events = await insight.run(readStream, { from, upto, after, limit, epoch });
  const last = events.at(-1);
  const isMore = events.length === limit && last !== undefined;
  const next = isMore ? { upto, ...rowOf(last.id) } : null;
  const reached = formatCursor({ epoch: epoch.name, from: isMore ? from : upto, page: next });
  return { events, cursor: reached, isMore, isGap: false };
}

async function look(insight: Database): Promise<StreamLook> {
  const row = await oneRow(insight, readStreamEnd, {});
  return { ...row, snapshot: shortSnapshot(row.snapshot) };
}

/** A cursor that lies ahead of the server is of a history that was lost, whatever its epoch says. */
const isOf = ({ epoch, from, page }: StreamPlace, now: StreamPlace): boolean =>
  epoch === now.epoch && BigInt(snapshotEnd((page?.upto ?? from).snapshot)) <= BigInt(snapshotEnd(now.from.snapshot));

/** One row has the moves of many jobs: the id of a move is its epoch, its transaction, its row and its place in the row. */
export function rowOf(eventId: string): { readonly xid: string; readonly id: string; readonly place: string } {
  const [, xid = "", id = "", place = ""] = eventId.split(".");
  return { xid, id, place };
}
