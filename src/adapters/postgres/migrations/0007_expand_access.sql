-- Processes read and write rows; tables belong to who migrates. What needs the owner and happens every day runs as the owner.

create or replace function belfry.make_partition(parent text, day text) returns boolean language plpgsql
  security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
declare
  from_at timestamptz;
begin
  perform belfry.assert_partition(parent, day);
  from_at := to_date(day, 'YYYYMMDD')::timestamp at time zone 'UTC';
  execute format('create table belfry.%I (like belfry.%I including all excluding identity)', parent || '_' || day, parent);
  execute format('alter table belfry.%I attach partition belfry.%I for values from (%L) to (%L)',
    parent, parent || '_' || day, from_at, from_at + interval '24 hours');
  return true;
exception when check_violation then
  return false;
end $$;
create or replace function belfry.drop_partition(parent text, day text) returns void language plpgsql
  security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
begin
  perform belfry.assert_partition(parent, day);
  execute format('drop table if exists belfry.%I', parent || '_' || day);
end $$;
-- Whoever calls them makes and drops days of partitioned tables and nothing else.
create function belfry.assert_partition(parent text, day text) returns void language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  if day !~ '^[0-9]{8}$' or not exists (
    select from pg_class where relnamespace = 'belfry'::regnamespace and relname = parent and relkind = 'p')
  then raise insufficient_privilege using message = format('%s of %s is no day of a partitioned table', day, parent);
  end if;
end $$;

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
