import { keptStatement, statement } from "../statement.ts";

/** No row: this stage is no cell. Locks nothing. */
export const readCellMap = statement<{ version: number; map: unknown }>("cell-map")(
  "select version, map from belfry.cell_map",
);

/** Raises the version, never lowers it. Locks one row, under the lock of the map. $1 version $2 map */
export const writeCellMap = statement<{ version: number }>("cell-map-write")(`
insert into belfry.cell_map as m (version, map) values ($1::int, $2::jsonb)
on conflict (one) do update set version = excluded.version, map = excluded.map where excluded.version > m.version
returning version`);

/** Locks: the advisory lock under which a map is written, shared, until the transaction ends. $1 its name. */
export const lockMapShared = keptStatement<never>("cell-map-hold")(
  "select pg_advisory_xact_lock_shared(hashtextextended('belfry.fence:' || $1, 0))",
);

/** How ids of this database are drawn, its cell's number as `rest`. Locks nothing. */
export const readIdSteps = statement<{ step: number; rest: number }>("cell-ids")(
  "select seqincrement::int as step, (seqstart % 64)::int as rest from pg_sequence where seqrelid = 'belfry.job_id_seq'::regclass",
);
