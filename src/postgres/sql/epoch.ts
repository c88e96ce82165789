import { keptStatement, statement } from "../statement.ts";

/** One history of events; see the table. */
export interface Epoch {
  readonly number: number;
  readonly name: string;
  /** Events below it come from a server whose transaction numbers mean nothing here. */
  readonly first_event_id: string;
  readonly began_at: number;
}

/** The newest, and whether this is still the server it began on. Locks nothing. */
export const readEpoch = keptStatement<Epoch & { is_here: boolean }>("epoch")(`
select number, name, first_event_id, belfry.ms(began_at) as began_at, server = belfry.server() as is_here
from belfry.epoch order by number desc limit 1`);

export interface RenewedRow extends Epoch {
  readonly was: string;
  readonly was_first: string;
  /** Another server: its transaction numbers have nothing to do with those of the rows. */
  readonly is_moved: boolean;
  /** The first transaction behind those of the rows that came along; null when there are none. */
  readonly xid_end: string | null;
  /** False: the sequences did not come along, so a new event would get an old id. */
  readonly is_ahead: boolean;
}

/**
 * A new epoch if this is not the server of the newest one, or ($1) in any case. No row: it is current. Reads all events of
 * a database that was moved, once. Locks: the new row; of two who begin one, the second waits and finds it there.
 */
export const renewEpoch = statement<RenewedRow>("epoch-renew")(`
with newest as materialized (
  select number, name, first_event_id, split_part(server, '/', 1) <> split_part(belfry.server(), '/', 1) as is_moved
  from belfry.epoch where number = (select max(number) from belfry.epoch) and ($1::boolean or server <> belfry.server())
), came as materialized (
  select max(id) as last_id, max(xid::text::numeric) + 1 as xid_end from belfry.event where (select is_moved from newest)
), begun as (
  insert into belfry.epoch (number, name, server, first_event_id, began_at)
  select number + 1, left(md5(gen_random_uuid()::text), 8), belfry.server(),
    case when is_moved then belfry.next_event() else first_event_id end, belfry.now()
  from newest on conflict do nothing
  returning *
)
select b.number, b.name, b.first_event_id, belfry.ms(b.began_at) as began_at, n.name as was, n.first_event_id as was_first,
  n.is_moved, c.xid_end::text as xid_end, not n.is_moved or b.first_event_id > coalesce(c.last_id, 0) as is_ahead
from begun b cross join newest n cross join came c`);

/** The database went on from its own past: so do the readers in its books. $1 the epoch before $2 the new one. Locks their rows, waiting. */
export const carryReaders = statement<never>("epoch-readers")(`
update belfry.reader set upto = $2 || substr(upto, length($1) + 1), version = version + 1
where starts_with(upto, $1 || '~')`);

/** What was moved is added up: the roll-up goes on with the transactions of this server. Locks its row, waiting. */
export const moveRollUp = statement<never>("epoch-roll-up")(
  "update belfry.reader set upto = pg_snapshot_xmin(pg_current_snapshot())::text, version = version + 1 where name = 'roll-up'",
);

/**
 * Logical replication and DMS copy rows, not sequences: each that lies behind its column is raised. Those of jobs, runs and bulk
 * actions always are, so that an id of a time that is lost names nothing else, as effect keys and addresses hold it: 1,000 a second
 * need 11 days for what is left out.
 * Locks nothing.
 */
export const raiseSequences = statement<never>("epoch-sequences")(`
do $$ declare
  each record;
begin
  for each in
    select c.oid::regclass as in_table, a.attname as in_column, pg_get_serial_sequence(c.oid::regclass::text, a.attname) as sequence
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'belfry'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and a.attidentity <> '' and not a.attisdropped
    union all
    select 'belfry.event'::regclass, 'id', 'belfry.event_id_seq'
  loop
    execute format(
      'select setval(%L, m.last) from (select max(%I) as last from %s) m, %s s where m.last >= s.last_value',
      each.sequence, each.in_column, each.in_table, each.sequence);
  end loop;
  perform setval(seqrelid, coalesce(pg_sequence_last_value(seqrelid), seqstart) + seqincrement * 1000000000)
  from pg_sequence where seqrelid in ('belfry.job_id_seq'::regclass, 'belfry.run_id_seq'::regclass, 'belfry.bulk_id_seq'::regclass);
end $$`);
