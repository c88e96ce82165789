-- Rows of everything the caller owns, in whichever schema, to the role that processes connect as; not the ledger of
-- migrations. The audit is only added to, and where the API has a role of its own, by that role alone: no handler writes or
-- changes who did what. To be called after each migration: a new table has no rights yet.
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
    elsif owned.schema = 'belfry' and owned.name = 'audit' then
      execute format('revoke all on belfry.audit from %I', grantee);
      execute format('grant select on belfry.audit to %I', grantee);
      execute format('grant insert on belfry.audit to %I', coalesce(
        (select rolname from pg_roles where rolname = 'belfry_api' and pg_has_role(oid, grantee, 'member')), grantee));
    else
      execute format('grant select, insert, update, delete on %I.%I to %I', owned.schema, owned.name, grantee);
    end if;
  end loop;
  -- What writes rows of jobs may write them by this, too: a handler's transaction, and onSettled.
  execute format('grant execute on function belfry.enqueue to %I', grantee);
end $$;

-- Those of these rows that are past the audit's retention, as the owner: what is younger no process can remove.
create function belfry.prune_audit(ids bigint[]) returns int language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
declare
  pruned int;
begin
  delete from belfry.audit where id = any(ids) and at < belfry.now() - belfry.audit_retention();
  get diagnostics pruned = row_count;
  return pruned;
end $$;
