import { statement } from "../statement.ts";

/** Where the stream is now. Locks nothing. */
export const readStreamEnd = statement<{ snapshot: string }>(
  "stream-end",
  "select pg_current_snapshot()::text as snapshot",
);

export interface StreamRow {
  readonly id: string;
  readonly place: number;
  readonly xid: string;
  readonly job_id: string;
  readonly at: number;
  readonly from_state: string | null;
  readonly to_state: string;
  readonly attempt: number;
  readonly generation: number;
  readonly worker: string | null;
  readonly reason: string | null;
  readonly kind: string | null;
  readonly key: string | null;
  readonly lane: string | null;
  readonly run_id: string | null;
}

/**
 * Moves that one snapshot did not see and another does, in (transaction, event, place in it) order: exactly those, even with open
 * transactions, and without reading earlier ones again. An event without moves after the place costs one row. Rows below the
 * epoch's first event are left out: another server numbered their transactions. The index is entered by one bound: of two
 * it takes the row's, which a stream without a place sets to the beginning. $1 end of the first snapshot $2 transactions that
 * were open in it $3 the second snapshot $4 after transaction $5 after event $6 after place $7 limit $8 first event of the epoch.
 * Locks nothing.
 */
export const readStream = statement<StreamRow>(
  "stream",
  `
select e.id, e.place, e.xid::text as xid, e.job_id, belfry.ms(e.at) as at, e.from_state, e.to_state, e.attempt, e.generation,
  e.worker, e.reason, j.kind, j.key, j.lane, j.run_id
from (
  select f.id, f.xid, f.at, f.from_state, f.to_state, f.worker, f.reason, m.job_id, m.attempt, m.generation, m.place
  from (
    select * from (
      select * from belfry.event where (xid, id) >= (greatest($1::text::xid8, $4::text::xid8),
        case when $4::text::xid8 >= $1::text::xid8 then $5::bigint else 0 end)
      union all
      select * from belfry.event where xid = any($2::text[]::xid8[]) and xid < $1::text::xid8
        and (xid, id) >= ($4::text::xid8, $5::bigint)
    ) fresh
    where pg_visible_in_snapshot(xid, $3::text::pg_snapshot) and id >= $8::bigint
    order by xid, id limit $7 + 1
  ) f
  cross join lateral unnest(f.job_ids, f.attempts, f.generations) with ordinality as m (job_id, attempt, generation, place)
  where (f.xid, f.id, m.place) > ($4::text::xid8, $5::bigint, $6::bigint)
  order by f.xid, f.id, m.place limit $7
) e left join belfry.job j on j.id = e.job_id
order by e.xid, e.id, e.place`,
);
