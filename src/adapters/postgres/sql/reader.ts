import { statement } from "../statement.ts";

/** Begins where the cursor says, unless it has begun. $1 name $2 cursor. Locks the new row only. */
export const createReader = statement<never>(
  "reader-create",
  `
insert into belfry.reader (name, upto) values ($1, $2) on conflict (name) do nothing`,
);

/** Locks nothing. */
export const readReader = statement<{ upto: string; version: string }>(
  "reader",
  `
select upto, version from belfry.reader where name = $1`,
);

/**
 * Takes it for $4 ms, unless it moved since, has an owner, or must wait after a failure.
 * $1 name $2 owner $3 version. Locks that row, waiting.
 */
export const takeReader = statement<{ version: string }>(
  "reader-take",
  `
update belfry.reader set owner = $2, owner_until = belfry.now() + belfry.span($4::float8), version = version + 1
where name = $1 and version = $3::bigint and (owner is null or owner = $2 or owner_until <= belfry.now())
  and (retry_at is null or retry_at <= belfry.now())
returning version`,
);

/** Waits $4 ms, twice as long after each further failure, up to $5 ms. $1 name $2 owner $3 version. Locks that row, waiting. */
export const failReader = statement<never>(
  "reader-fail",
  `
update belfry.reader set owner = null, owner_until = null, failures = failures + 1, version = version + 1,
  retry_at = belfry.now() + belfry.span(least($5::float8, $4::float8 * 2 ^ least(failures, 20)))
where name = $1 and owner = $2 and version = $3::bigint`,
);

/** $1 name $2 owner $3 version $4 cursor. Locks that row, waiting. No row: it has another owner, so nothing is marked. */
export const advanceReader = statement<{ version: string }>(
  "reader-advance",
  `
update belfry.reader set upto = $4, version = version + 1, failures = 0, retry_at = null, owner = null, owner_until = null
where name = $1 and owner = $2 and version = $3::bigint
returning version`,
);

/**
 * Only whole rows: the last move of each was read. $1 transactions $2 events $3 the last place that was read of each $4 and $5
 * between the first time and the last, so that only the partitions of these days are looked at.
 * Locks those events; only the owner of the reader writes them.
 */
export const markPublished = statement<never>(
  "mark-published",
  `
update belfry.event e set published_at = belfry.now()
from unnest($1::text[], $2::bigint[], $3::int[]) as p (xid, id, place)
where e.xid = p.xid::xid8 and e.id = p.id and cardinality(e.job_ids) = p.place and e.published_at is null
  and e.at >= belfry.at($4::float8) and e.at < belfry.at($5::float8 + 1)`,
);
