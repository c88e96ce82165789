import { z } from "zod";
import { publishLimits } from "./publish-limits.ts";
import type { StreamCursor, StreamEvent } from "./event-stream.ts";
import { type Database, sqlQuery } from "./sql-query.ts";
import { readEvents, rowOf } from "./stream.ts";

/** A named reader of the events in the hands of its owner, at the version that a step must find. */
interface Step {
  readonly name: string;
  readonly owner: string;
  readonly version: string;
}

const version = z.object({ version: z.string() });

/** Begins where the cursor says, unless it has begun. $1 name $2 cursor. Locks the new row only. */
export const createReader = sqlQuery("reader-create", {
  params: ({ name, cursor }: { name: string; cursor: StreamCursor }) => [name, cursor],
})(`
insert into belfry.reader (name, upto) values ($1, $2) on conflict (name) do nothing`);

/** How far it is. Locks nothing. */
export const readReader = sqlQuery("reader", {
  params: (name: string) => [name],
  row: version.extend({ upto: z.custom<StreamCursor>((value) => typeof value === "string") }),
})(`
select upto, version from belfry.reader where name = $1`);

/**
 * Takes it for $4 ms, unless it moved since, has an owner, or must wait after a failure.
 * $1 name $2 owner $3 version. Locks that row, waiting.
 */
export const takeReader = sqlQuery("reader-take", {
  params: (of: Step) => [of.name, of.owner, of.version, publishLimits.publishLeaseMs],
  row: version,
})(`
update belfry.reader set owner = $2, owner_until = belfry.now() + belfry.span($4::float8), version = version + 1
where name = $1 and version = $3::bigint and (owner is null or owner = $2 or owner_until <= belfry.now())
  and (retry_at is null or retry_at <= belfry.now())
returning version`);

/** Waits $4 ms, twice as long after each further failure, up to $5 ms. $1 name $2 owner $3 version. Locks that row, waiting. */
export const failReader = sqlQuery("reader-fail", {
  params: (of: Step) => [of.name, of.owner, of.version, publishLimits.publishRetryMs, publishLimits.publishRetryMsMax],
})(`
update belfry.reader set owner = null, owner_until = null, failures = failures + 1, version = version + 1,
  retry_at = belfry.now() + belfry.span(least($5::float8, $4::float8 * 2 ^ least(failures, 20)))
where name = $1 and owner = $2 and version = $3::bigint`);

/** $1 name $2 owner $3 version $4 cursor. Locks that row, waiting. No row: it has another owner, so nothing is marked. */
export const advanceReader = sqlQuery("reader-advance", {
  params: (of: Step & { readonly cursor: StreamCursor }) => [of.name, of.owner, of.version, of.cursor],
  row: version,
})(`
update belfry.reader set upto = $4, version = version + 1, failures = 0, retry_at = null, owner = null, owner_until = null
where name = $1 and owner = $2 and version = $3::bigint
returning version`);

/**
 * Only whole rows: the last move of each was read. $1 transactions $2 events $3 the last place that was read of each $4 and $5
 * between the first time and the last, so that only the partitions of these days are looked at.
 * Locks those events; only the owner of the reader writes them.
 */
export const markPublished = sqlQuery("mark-published", { params: markedRows })(`
update belfry.event e set published_at = belfry.now()
from unnest($1::text[], $2::bigint[], $3::int[]) as p (xid, id, place)
where e.xid = p.xid::xid8 and e.id = p.id and cardinality(e.job_ids) = p.place and e.published_at is null
  and e.at >= belfry.at($4::float8) and e.at < belfry.at($5::float8 + 1)`);

function markedRows(events: readonly StreamEvent[]): unknown[] {
  const rows = new Map<string, { xid: string; place: number }>();
  for (const { xid, id, place } of events.map((event) => rowOf(event.id)))
    rows.set(id, { xid, place: Math.max(Number(place), rows.get(id)?.place ?? 0) });
  const times = events.map((event) => Date.parse(event.at));
  const all = [...rows.values()];
  return [
    all.map(({ xid }) => xid),
    [...rows.keys()],
    all.map(({ place }) => place),
    Math.min(...times),
    Math.max(...times),
  ];
}

/** How far a named reader of the events is. Null the first time: it begins now. */
export async function openReader(insight: Database, name: string) {
  const [row] = await insight.run(readReader, name);
  if (row !== undefined) return { cursor: row.upto, version: row.version };
  const { cursor } = await readEvents(insight, null, 1);
  await insight.run(createReader, { name, cursor });
  return null;
}

/** Marks these events and moves the reader past them, in one transaction. @returns false for another owner's reader. */
export const passEvents = (
  insight: Database,
  { events, ...step }: Step & { readonly cursor: StreamCursor; readonly events: readonly StreamEvent[] },
): Promise<boolean> =>
  insight.transaction(async (transaction) => {
    const advanced = await transaction.run(advanceReader, step);
    if (advanced.length > 0 && events.length > 0) await transaction.run(markPublished, events);
    return advanced.length > 0;
  });
