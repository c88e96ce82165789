import type { Tx } from "../../src/machine/transaction.ts";
import { execute, statement } from "../../src/postgres/statement.ts";

/**
 * The tables, types and functions of a migrated database as text: the same for every database at the same version, whatever
 * the user's search path. Needs a client, not a pool: it opens a transaction.
 */
export async function dumpSchema(client: Tx): Promise<string> {
  await client.query("begin read only");
  try {
    await execute(client, hideSchemas);
    const rows = await execute(client, describeSchema);
    return `${rows.map((row) => row.line).join("\n")}\n`;
  } finally {
    await client.query("rollback");
  }
}

/**
 * Everything in schema belfry, one line each, in a fixed order, for the review of a migration.
 * Partitions and the ledger of migrations are left out. Words come from the catalogs, since no pg_dump is shipped.
 * Locks nothing.
 */
const describeSchema = statement<{ line: string }>("schema")(`
with tables as (
  select c.oid, c.relname, c.relkind, c.reloptions from pg_class c
  where c.relnamespace = 'belfry'::regnamespace and c.relkind in ('r', 'p', 'v')
    and c.relname !~ '_([0-9]{8}|rest)$' and c.relname not in ('migration', 'test_clock')
), lines as (
  select 1 as part, t.typname::text as thing, 0 as place, format('type %s: %s', t.typname, string_agg(e.enumlabel, ' ' order by e.enumsortorder)) as line
  from pg_type t join pg_enum e on e.enumtypid = t.oid where t.typnamespace = 'belfry'::regnamespace group by t.typname
  union all
  select 1, t.typname, 0, format('type %s: %s %s', t.typname, format_type(t.typbasetype, t.typtypmod), pg_get_constraintdef(c.oid))
  from pg_type t join pg_constraint c on c.contypid = t.oid where t.typnamespace = 'belfry'::regnamespace
  union all
  select 2, p.oid::regprocedure::text, 0, format('function %s returns %s, %s, body %s', p.oid::regprocedure,
    pg_get_function_result(p.oid), case p.provolatile when 'i' then 'immutable' when 's' then 'stable' else 'volatile' end,
    md5(coalesce(nullif(p.prosrc, ''), pg_get_function_sqlbody(p.oid))))
  from pg_proc p where p.pronamespace = 'belfry'::regnamespace
  union all
  select 3, relname, 0, format('%s %s%s', case relkind when 'v' then 'view' when 'p' then 'partitioned table' else 'table' end,
    relname, coalesce(' with ' || array_to_string(reloptions, ', '), ''))
  from tables
  union all
  select 3, t.relname, 1000 + a.attnum, format('  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
    case when a.attnotnull then ' not null' else '' end,
    case a.attidentity when 'a' then ' identity' else '' end,
    coalesce(case a.attgenerated when 's' then ' generated ' else ' default ' end || pg_get_expr(d.adbin, d.adrelid), ''))
  from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
  left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
  union all
  select 3, t.relname, 3000 + row_number() over (partition by t.oid order by c.conname),
    format('  constraint %s %s', c.conname, pg_get_constraintdef(c.oid))
  from tables t join pg_constraint c on c.conrelid = t.oid and c.contype in ('c', 'p', 'u', 'f')
  union all
  select 3, t.relname, 4000 + row_number() over (partition by t.oid order by i.relname),
    format('  %s', regexp_replace(pg_get_indexdef(i.oid), ' ON (ONLY )?belfry\\.', ' on '))
  from tables t join pg_index x on x.indrelid = t.oid and not x.indisprimary join pg_class i on i.oid = x.indexrelid
  union all
  select 3, t.relname, 5000 + row_number() over (partition by t.oid order by g.tgname), format('  %s', pg_get_triggerdef(g.oid))
  from tables t join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal
)
select line from lines order by part, thing collate "C", place`);

/** Belfry's names are then written with their schema. A user called belfry would see them without. */
const hideSchemas = statement<never>("schema-path")("select set_config('search_path', 'pg_catalog', true)");
