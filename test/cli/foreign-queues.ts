import type { Pool } from "pg";

/**
 * The tables of pg-boss and graphile-worker as far as an import reads them; `npm run outsider` meets those that the libraries
 * make. Of each queue one job fits the kind `greet`, and one does not. @returns the address of their database
 */
export async function foreignQueues(pool: Pool): Promise<string> {
  await pool.query(tables);
  const { connectionString = "" } = pool.options;
  return connectionString;
}

const tables = `
drop schema if exists pgboss, graphile_worker cascade;
create schema pgboss;
create table pgboss.queue (name text, retry_limit int, retry_delay int, retry_backoff bool);
create table pgboss.schedule (name text, key text default '', kind text default 'cron', cron text, timezone text, data jsonb);
create table pgboss.job (id uuid default gen_random_uuid(), name text, priority int default 0, data jsonb, state text default 'created',
  retry_count int default 0, singleton_key text, start_after timestamptz default '2031-01-01Z', blocked bool default false);
insert into pgboss.queue values ('greet', 3, 30, true), ('sendMail', 3, 0, false);
insert into pgboss.schedule values ('greet', '', 'cron', '0 8 * * *', 'Asia/Seoul', '{"name":"Ada"}'),
  ('greet', 'rule', 'rrule', 'FREQ=DAILY', 'UTC', null);
insert into pgboss.job (name, data, state, blocked) values ('greet', '{"name":"Ada"}', 'created', false), ('greet', '{"name":7}', 'retry', false),
  ('greet', '{}', 'active', false), ('greet', '{}', 'created', true), ('greet', '{}', 'completed', false);
create schema graphile_worker;
create table graphile_worker._private_tasks (id int, identifier text);
create table graphile_worker._private_jobs (id bigint generated always as identity, task_id int default 1, job_queue_id int, payload json,
  priority int default 0, run_at timestamptz default '2031-01-01Z', attempts int default 0, max_attempts int default 25, key text, locked_at timestamptz);
insert into graphile_worker._private_tasks values (1, 'greet');
insert into graphile_worker._private_jobs (payload, attempts, locked_at) values ('{"name":"Ada"}', 0, null), ('{"name":7}', 1, null),
  ('{}', 0, now()), ('{}', 25, null);
`;
