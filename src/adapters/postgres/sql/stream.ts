import { statement } from "../statement.ts";

/**
 * Where the stream is now. The highest event is committed, so no crash gives its id again; transactions from `next` on begin
 * after it. A snapshot ends behind the last transaction that has ended, so later ones may be open: their count is its end's age.
 * Locks nothing.
 */
export const readStreamEnd = statement<{ snapshot: string; next: string; last: string }>(
  "stream-end",
  `
select s::text as snapshot, (pg_snapshot_xmax(s)::text::bigint + age(pg_snapshot_xmax(s)::xid))::text as next,
  coalesce((select max(id) from belfry.event), 0) as last
from pg_current_snapshot() s`,
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
 * Moves that one look did not see and another does, in the order of their events, which is each job's own: exactly those, even
 * with open transactions, and without reading earlier ones again. Events above the first look's last id come by id; the inner
 * limit has that index read in order, so a page costs its own rows. Those below it are of transactions that were open in the
 * look, and of those that it left out. An event without moves after the place costs one row. Rows below the epoch's first
 * event are left out: another server numbered their transactions. $1 first look: snapshot $2 transactions that were open in it
 * $3 its end $4 the first transaction it knows nothing of $5 its last event $6 second snapshot $7 after event $8 after place
 * $9 limit $10 first event of the epoch. Locks nothing.
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
order by e.id, e.place`,
);
