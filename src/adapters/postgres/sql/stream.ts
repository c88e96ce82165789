import { statement } from "../statement.ts";
import type { EventRow } from "./read.ts";

/** Where the stream is now. Locks nothing. */
export const readStreamEnd = statement<{ system: string; snapshot: string }>(
  "stream-end",
  `
select (select system_identifier from pg_control_system())::text as system, pg_current_snapshot()::text as snapshot`,
);

export interface StreamRow extends EventRow {
  readonly xid: string;
  readonly kind: string | null;
  readonly key: string | null;
  readonly lane: string | null;
  readonly run_id: string | null;
}

/**
 * Events that one snapshot did not see and another does, in (transaction, id) order: exactly those, whatever other
 * transactions are open, and without going again through what was read. $1 end of the first snapshot $2 transactions that
 * were open in it $3 the second snapshot $4 after transaction $5 after id $6 limit. Locks nothing.
 */
export const readStream = statement<StreamRow>(
  "stream",
  `
select e.id, e.xid::text as xid, e.job_id, belfry.ms(e.at) as at, e.from_state, e.to_state, e.attempt, e.generation, e.worker,
  e.reason, j.kind, j.key, j.lane, j.run_id
from (
  select * from (
    select * from belfry.event where xid >= $1::text::xid8
    union all
    select * from belfry.event where xid = any($2::text[]::xid8[]) and xid < $1::text::xid8
  ) fresh
  where pg_visible_in_snapshot(xid, $3::text::pg_snapshot)
    and (xid, id) > ($4::text::xid8, $5::bigint)
  order by xid, id limit $6
) e left join belfry.job j on j.id = e.job_id
order by e.xid, e.id`,
);
