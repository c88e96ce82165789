import type { Pool } from "pg";

/** Every table of the store, and its columns that can be written; the settable clock goes on. */
const tables = `
select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
from pg_class c join pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'belfry'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'test_clock'
  and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
group by c.relname`;

/** Keeps all rows. @returns what puts them back; sequences go on, so that no id names two things. */
export async function keepRows(pool: Pool): Promise<() => Promise<void>> {
  const { rows } = await pool.query<{ name: string; columns: string }>(tables);
  const copies = rows.map(({ name, columns }) => `create table kept.${name} as select ${columns} from belfry.${name};`);
  await pool.query(`drop schema if exists kept cascade; create schema kept; ${copies.join(" ")}`);
  return async () => {
    const back = rows.map(
      ({ name, columns }) =>
        `delete from belfry.${name}; insert into belfry.${name} (${columns}) overriding system value select ${columns} from kept.${name};`,
    );
    // A restore writes rows, it does not move jobs: no trigger runs.
    await pool.query(
      `begin; set local session_replication_role = replica; ${back.join(" ")} commit; drop schema kept cascade`,
    );
  };
}
