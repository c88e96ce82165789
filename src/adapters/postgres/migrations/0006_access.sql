-- Rows of everything the caller owns, in whichever schema, to the role that processes connect as; not the ledger of
-- migrations. To be called after each migration: a new table has no rights yet.
create function belfry.grant_rows(grantee text) returns void language plpgsql
  set search_path = pg_catalog, pg_temp as $$
declare
  owned record;
begin
  for owned in
    select nspname as schema, relname as name, relkind as kind
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where pg_class.relowner = current_user::regrole and relkind in ('r', 'p', 'v', 'S')
      and nspname !~ '^pg_' and nspname <> 'information_schema'
    order by relkind, nspname, relname
  loop
    execute format('grant usage on schema %I to %I', owned.schema, grantee);
    if owned.kind = 'S' then
      execute format('grant usage, select on sequence %I.%I to %I', owned.schema, owned.name, grantee);
    elsif owned.schema = 'belfry' and owned.name = 'migration' then
      execute format('grant select on %I.%I to %I', owned.schema, owned.name, grantee);
    else
      execute format('grant select, insert, update, delete on %I.%I to %I', owned.schema, owned.name, grantee);
    end if;
  end loop;
end $$;
