import { statement } from "../statement.ts";

/**
 * The two roles of a database that the deployment made: `belfry_owner` migrates and owns what it makes, `belfry_app` is
 * every other process. Both prove themselves by IAM. Run by the administrator; may be repeated. Locks nothing that
 * others use.
 */
export const createRoles = statement<never>(
  "access-roles",
  `
do $$
declare
  name text;
begin
  foreach name in array array['belfry_owner', 'belfry_app'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = name) then
      execute format('create role %I login', name);
    end if;
    execute format('grant rds_iam to %I', name);
    execute format('grant connect on database %I to %I', current_database(), name);
  end loop;
  execute format('grant create on database %I to belfry_owner', current_database());
  grant usage, create on schema public to belfry_owner;
end $$`,
);

/** By the owner, after each migration: a table that was made since has no rights yet. Locks: the catalog rows of tables. */
export const grantRows = statement<never>("access-rows", "select belfry.grant_rows($1)");
