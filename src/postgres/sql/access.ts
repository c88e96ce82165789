import { statement } from "../statement.ts";

/**
 * The roles of a database that the deployment made: `belfry_owner` migrates and owns what it makes, `belfry_app` is every
 * process with handlers, `belfry_api` may do the same on a limited number of connections, which the session's setting gives.
 * All prove themselves by IAM. Run by the administrator; may be repeated. Locks nothing that others use.
 */
export const createRoles = statement<never>("access-roles")(`
do $$
declare
  name text;
begin
  foreach name in array array['belfry_owner', 'belfry_app', 'belfry_api'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = name) then
      execute format('create role %I login', name);
    end if;
    execute format('grant rds_iam to %I', name);
    execute format('grant connect on database %I to %I', current_database(), name);
  end loop;
  execute format('grant create on database %I to belfry_owner', current_database());
  grant usage, create on schema public to belfry_owner;
  grant belfry_app to belfry_api;
  execute format('alter role belfry_api connection limit %s', current_setting('belfry.api_connections')::int);
end $$`);

/** What the statement above reads. For this session. */
export const setApiConnections = statement<never>("access-api-connections")(
  "select set_config('belfry.api_connections', $1::int::text, false)",
);

/** Whether the administrator has nothing to do any more. */
export const readRoles = statement<{ complete: boolean }>("access-complete")(`
select count(*) = 3 and bool_or(rolname = 'belfry_api' and rolconnlimit = $1::int) as complete
from pg_catalog.pg_roles where rolname in ('belfry_owner', 'belfry_app', 'belfry_api')`);

/** By the owner, after each migration: a table that was made since has no rights yet. Locks: the catalog rows of tables. */
export const grantRows = statement<never>("access-rows")("select belfry.grant_rows($1)");
