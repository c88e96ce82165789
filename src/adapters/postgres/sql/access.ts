import { statement } from "../statement.ts";

/**
 * The role that every process is on a database that the deployment made: it may make its own tables, and proves itself
 * by IAM. Run by the administrator; may be repeated. Locks nothing that others use.
 */
export const createApplicationRole = statement<never>(
  "access-role",
  `
do $$ begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'belfry_app') then
    create role belfry_app login;
  end if;
  grant rds_iam to belfry_app;
  execute format('grant connect, create on database %I to belfry_app', current_database());
  grant usage, create on schema public to belfry_app;
end $$`,
);
