-- The table of the roofs: columns, checks and indexes of jobs as they were at b8a9fb1. Frozen, so that a leaner table shows.
create schema raw;
create table raw.job (
  id            bigint generated always as identity primary key,
  kind          text not null,
  key           text,
  payload       jsonb not null,
  payload_hash  bytea not null,
  lane          text not null,
  state         belfry.job_state not null,
  hold          belfry.job_hold not null default 'none',
  held_on       text,
  due_at        timestamptz not null,
  expires_at    timestamptz,
  generation    int not null default 0,
  attempt       int not null default 0,
  failures      int not null default 0,
  interruptions int not null default 0,
  dead_letters  int not null default 0,
  max_attempts  int not null,
  lease_ms      int not null,
  retention_ms  bigint not null,
  suspect       boolean not null default false,
  alone         boolean not null default false,
  slot_keys     text[],
  schedule_id   text,
  scheduled_for timestamptz,
  catch_up      boolean not null default false,
  missed        int not null default 0,
  run_id        bigint,
  preds_open    int not null default 0,
  preds_ok      int not null default 0,
  preds_bad     int not null default 0,
  join_rule     belfry.join_rule not null default 'all',
  blocked       boolean not null default false,
  wide          boolean not null default false,
  spread        boolean not null default false,
  task          text,
  asks          boolean not null default false,
  asked_row     jsonb,
  not_taken     boolean not null default false,
  trace         text not null,
  worker        text,
  started_at    timestamptz,
  lease_until   timestamptz,
  progress      real,
  handed_at     timestamptz,
  finished_at   timestamptz,
  result        jsonb,
  error_code    text,
  error_message text,
  created_at    timestamptz not null,
  constraint job_lease_while_running check ((lease_until is not null) = (state = 'RUNNING')),
  constraint job_worker_while_running check (state <> 'RUNNING' or (worker is not null and started_at is not null)),
  constraint job_finished_when_final check ((finished_at is not null) = (state >= 'SUCCESS')),
  constraint job_counters check (generation >= 0 and attempt >= 0 and failures >= 0 and interruptions >= 0
    and dead_letters >= 0 and preds_open >= 0 and preds_ok >= 0 and preds_bad >= 0),
  constraint job_tries check (failures + interruptions <= attempt),
  constraint job_hold_while_waiting check (hold = 'none' or state in ('PENDING', 'RETRY_WAIT')),
  constraint job_held_on_slot check ((held_on is not null) = (hold = 'slot')),
  constraint job_blocked_while_waiting check (not blocked or state in ('PENDING', 'CANCELED', 'SKIPPED'))
);
create unique index job_key on raw.job (kind, key) where key is not null;
create index job_due on raw.job (due_at, id)
  where state in ('PENDING', 'RETRY_WAIT') and not blocked and hold = 'none';
create index job_lease on raw.job (lease_until) where lease_until is not null;
create index job_held on raw.job (held_on, due_at, id) where hold = 'slot';
create index job_finished on raw.job (retention_ms, finished_at) where finished_at is not null and run_id is null;
create index job_out on raw.job (lane, handed_at) where state = 'QUEUED' and lease_until is null;
create index job_failed on raw.job (id) where state = 'FAILED';
create index job_schedule on raw.job (schedule_id, id) where schedule_id is not null;
create index job_run on raw.job (run_id, id) where run_id is not null;
create index job_run_open on raw.job (run_id, id)
  where run_id is not null and state in ('PENDING', 'QUEUED', 'RUNNING', 'RETRY_WAIT');
create index job_live on raw.job (id) where finished_at is null;
create index job_next on raw.job (due_at, id) where state in ('PENDING', 'QUEUED', 'RETRY_WAIT') and lease_until is null;
create index job_paused on raw.job (lane, id) where hold = 'paused';
